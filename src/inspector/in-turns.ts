import { setImmediate } from 'node:timers/promises'

/** How long a look back may hold up the program that it lives in. */
const sliceMs = 5

/** Called between pieces of work, it lets others have their turn when this has had its own for long enough. */
export function turns(): () => Promise<void> | undefined {
  let endMs = performance.now() + sliceMs
  const others = async (): Promise<void> => {
    await setImmediate()
    endMs = performance.now() + sliceMs
  }
  return () => (performance.now() < endMs ? undefined : others())
}
