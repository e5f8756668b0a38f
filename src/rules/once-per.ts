/**
 * Remembers a pure function's results by object.
 * @param isFinal whether an object cannot change any more; otherwise its result is not kept. @default it is frozen
 */
export function oncePerObject<Key extends object, Result>(
  compute: (key: Key) => Result,
  isFinal: (key: Key) => boolean = Object.isFrozen,
): (key: Key) => Result {
  const known = new WeakMap<Key, Result>()
  return (key) => {
    let result = known.get(key)
    if (result !== undefined) return result
    result = compute(key)
    if (isFinal(key)) known.set(key, result)
    return result
  }
}

/** Remembers a pure function's results by text or number. Forgets all of them at `maxKnown`. */
export function oncePerValue<Key extends string | number, Result>(
  compute: (key: Key) => Result,
  maxKnown = 1_000,
): (key: Key) => Result {
  const known = new Map<Key, Result>()
  return (key) => {
    let result = known.get(key)
    if (result !== undefined) return result
    if (known.size >= maxKnown) known.clear()
    known.set(key, (result = compute(key)))
    return result
  }
}
