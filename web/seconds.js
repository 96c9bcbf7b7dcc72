/** Time series with a row for each second. When there are too many rows, each becomes the mean of two, four, … seconds. */

const MOST_ROWS = 1_800

/** The mean of the values that are not null or undefined; null if there is none. */
function mean(values) {
  const known = values.filter((v) => v != null)
  return known.length ? known.reduce((sum, v) => sum + v, 0) / known.length : null
}

const halved = (column) => Array.from({ length: column.length / 2 }, (_, i) => mean(column.slice(2 * i, 2 * i + 2)))

export class Seconds {
  t = []
  /** Values by name of the series, one for each time in `t`. */
  columns = {}
  /** Number of seconds that a row covers. */
  width = 1
  #waiting = []

  /** Adds the second that begins at `at`: `row` has numbers by name, null for no value. Later rows may have new names. */
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
