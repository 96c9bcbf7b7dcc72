/** Columns with a row for each second; where there are too many, each row is the mean of two, four, … seconds. */

const MOST_ROWS = 1_800

/** The mean of those that are numbers; null without one. */
function mean(values) {
  const known = values.filter((v) => v != null)
  return known.length ? known.reduce((sum, v) => sum + v, 0) / known.length : null
}

const halved = (column) => Array.from({ length: column.length / 2 }, (_, i) => mean(column.slice(2 * i, 2 * i + 2)))

export class Seconds {
  t = []
  /** By name, as long as `t`. */
  columns = {}
  /** Seconds of a row. */
  width = 1
  #waiting = []

  /** The second that begins at `at`: numbers by name, null for none. A name may come later than others. */
  add(at, row) {
    this.#waiting.push(row)
    if (this.#waiting.length < this.width) return
    for (const name of Object.keys(row)) this.columns[name] ??= Array(this.t.length).fill(null)
    this.t.push(at + 1 - this.width)
    for (const [name, column] of Object.entries(this.columns)) column.push(mean(this.#waiting.map((of) => of[name])))
    this.#waiting = []
    if (this.t.length < MOST_ROWS) return
    this.t = this.t.filter((_, i) => i % 2 === 0)
    for (const [name, column] of Object.entries(this.columns)) this.columns[name] = halved(column)
    this.width *= 2
  }
}
