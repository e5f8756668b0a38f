import { useEffect, useState } from 'preact/hooks'
import { source } from './state.ts'

/** Unix time by the source's clock, each second anew, from what it was when a reply came. Only a living program's goes on. */
export function useDate(reply: { readonly dateMs: number } | undefined, readMs: number): number {
  const isLiving = source.value?.kind === 'living'
  useSeconds(isLiving)
  return (reply?.dateMs ?? 0) + (isLiving ? performance.now() - readMs : 0)
}

/** Counts seconds while something goes on, so that what depends on the time is shown anew. */
export function useSeconds(isOn: boolean): number {
  const [seconds, set] = useState(0)
  useEffect(() => {
    if (!isOn) return undefined
    const timer = setInterval(() => set((count) => count + 1), 1_000)
    return () => clearInterval(timer)
  }, [isOn])
  return seconds
}
