import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { EntiaError } from 'entia'
import fc from 'fast-check'
import { expect } from 'vitest'

/** How many cases each fuzzer tries: a few among the other tests, 10,000 in `npm run test:fuzz`. */
const fuzzCases = Number(process.env['FUZZ_CASES'] ?? 20)
/** Other cases: `FUZZ_SEED=7 npm run test:fuzz`. */
const seed = Number(process.env['FUZZ_SEED'] ?? 1)

/** How long one fuzzer may take. */
export const fuzzTimeoutMs = 10_000 + 100 * fuzzCases
/** A case that takes longer hangs. */
const maxCaseMs = 10_000
const maxGrowthMb = 200
/** What the cases may leave behind that is still reachable: far less than a leak of 10 kB a case. */
const maxLeftMb = 50
/** Garbage is collected after so many cases, so that the peak is that of a few cases and not the collector's patience. */
const casesPerCollection = 100

setFlagsFromString('--expose-gc')
// V8 takes 500 MB, once, to optimize the lexer of the shell grammar: that is no growth by a case.
for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
const collectGarbage = runInNewContext('gc') as () => void

/**
 * Tries so many made-up inputs. An attempt fails by throwing or by hanging. All of them together fail by growth, of which
 * two things are measured:
 *
 * - the peak of the process's resident memory, which may rise by 200 MB. Garbage is collected every 100 cases, so this is
 *   what a few cases need at once; without it, V8 lets some 130 MB of garbage lie before it collects all of it.
 * - what is still reachable after each of these collections (heap and buffers), which may rise by 50 MB: a leak.
 *
 * @param attempt calls `outcomeOf` for what may refuse its input
 * @param portion of all cases, for slow ones
 */
export async function fuzz<T>(inputs: fc.Arbitrary<T>, attempt: (input: T) => unknown, portion = 1): Promise<void> {
  const cases = Math.ceil(fuzzCases * portion)
  const guard = new HangGuard()
  // What is loaded and compiled for the first cases is no growth.
  const warmUp = Math.min(20, cases)
  let tried = 0
  let before = { peakMb: 0, leftMb: 0 }
  let leftMb = 0
  const property = fc.asyncProperty(inputs, async (input) => {
    guard.begin(input)
    await attempt(input)
    if (++tried === warmUp) before = { leftMb: await reachableMb(), peakMb: peakMb() }
    else if (tried % casesPerCollection === 0) leftMb = Math.max(leftMb, (await reachableMb()) - before.leftMb)
  })
  try {
    await fc.assert(property, { numRuns: cases, seed })
  } finally {
    await guard.end()
  }
  expect(peakMb() - before.peakMb, 'MB that the process has grown by at its peak').toBeLessThan(maxGrowthMb)
  expect(leftMb, 'MB that the cases leave behind').toBeLessThan(maxLeftMb)
}

/**
 * What an attempt gives, or the `EntiaError` that it throws.
 *
 * @throws any other error as it is: the input was not refused, it has broken something
 */
export async function outcomeOf<T>(attempt: () => T | Promise<T>): Promise<T | EntiaError> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof EntiaError) return error
    throw error
  }
}

/** What is still reachable. What a case has left to the event loop is let end before. */
async function reachableMb(): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

function peakMb(): number {
  return process.resourceUsage().maxRSS / 1_024
}

/** Ends a process that hangs in one case, from a thread of its own: a synchronous loop lets no timer fire. */
class HangGuard {
  /** How many cases have begun, and bytes of the text of the newest. */
  readonly #counts = new Int32Array(new SharedArrayBuffer(8))
  readonly #text = new Uint8Array(new SharedArrayBuffer(4_096))
  readonly #thread = new Worker(watch, {
    eval: true,
    workerData: { counts: this.#counts, text: this.#text, maxCaseMs, seed },
  })

  begin(input: unknown): void {
    const shown = fc.stringify(input)
    Atomics.store(this.#counts, 1, new TextEncoder().encodeInto(shown, this.#text).written)
    Atomics.add(this.#counts, 0, 1)
    Atomics.notify(this.#counts, 0)
  }

  async end(): Promise<void> {
    await this.#thread.terminate()
  }
}

const watch = `
const { writeSync } = require('node:fs')
const { workerData: { counts, text, maxCaseMs, seed } } = require('node:worker_threads')
for (;;) {
  const begun = Atomics.load(counts, 0)
  if (Atomics.wait(counts, 0, begun, begun === 0 ? Infinity : maxCaseMs) !== 'timed-out') continue
  const shown = new TextDecoder().decode(text.slice(0, counts[1]))
  writeSync(2, 'Case ' + begun + ' of seed ' + seed + ' hangs: ' + shown + '\\n')
  process.kill(process.pid, 'SIGKILL')
}
`
