import type { Finding, Law, WatchedCall } from '../law.ts'

export const onceRanOnce: Law = {
  name: 'once-ran-once',
  meaning: "The handler of a 'once' tool is called at most once for a call, over all crashes.",
  watch() {
    const ran = new Map<string, Set<number>>()
    const called = ({ kind, name, restart, world, effect, label }: WatchedCall): Finding => {
      if (kind !== 'tool' || restart !== 'once') return undefined
      let effects = ran.get(world.name)
      if (effects === undefined) ran.set(world.name, (effects = new Set()))
      if (effects.has(effect)) return `'${name}' runs a second time for effect ${effect} of ${label}`
      effects.add(effect)
      return undefined
    }
    return { called, calledLate: called }
  },
}
