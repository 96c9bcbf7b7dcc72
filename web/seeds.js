/** Runs with more seeds in additional workers, and confidence intervals of paired differences. */

import { Lab } from './lab.js'

/** 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom. */
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093]

/** Mean of a sample and half the width of its 95 % confidence interval; null with less than two values. */
export function interval(values) {
  const good = values.filter(Number.isFinite)
  if (good.length < 2) return null
  const n = good.length
  const mean = good.reduce((sum, v) => sum + v, 0) / n
  // All values are equal except for rounding, as in runs without random draws.
  const largest = Math.max(...good.map(Math.abs))
  if (Math.max(...good) - Math.min(...good) <= 1e-12 * largest) return { mean, half: 0, n }
  const variance = good.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1)
  return { mean, half: (STUDENT[n - 2] ?? 1.96) * Math.sqrt(variance / n), n }
}

/** Runs both sides' scenarios with each seed; `texts` are functions from a seed to a scenario. Calls `done(seed, summaries)` after each pair. Stops when `signal` is aborted. */
export async function replicate(module, texts, seeds, done, signal) {
  const waiting = [...seeds]
  const spare = Math.max(1, Math.min(8, (navigator.hardwareConcurrency || 2) - 2, seeds.length))
  const one = async () => {
    const lab = new Lab(module)
    signal.addEventListener('abort', () => lab.close(), { once: true })
    try {
      while (waiting.length && !signal.aborted) {
        const seed = waiting.shift()
        const summaries = []
        for (const text of texts) summaries.push((await lab.ask('whole', { text: text(seed) })).summary)
        done(seed, summaries)
      }
    } finally {
      lab.close()
    }
  }
  await Promise.all(Array.from({ length: spare }, one))
}
