/** How long ticks of all worlds may follow one another before timers, sockets and files have their turn. */
const sliceMs = 1

let sliceEndMs = 0

/** Ticks at the next turn of the event loop. Gives a function that calls it off. */
export function atNextTurn(tick: () => void): () => void {
  const turn = setImmediate(() => {
    sliceEndMs = performance.now() + sliceMs
    tick()
  })
  return () => clearImmediate(turn)
}

/** Is there time for another tick in this turn of the event loop? */
export function isTimeLeft(): boolean {
  return performance.now() < sliceEndMs
}

/** Calls this in the same turn of the event loop, once every promise that waits for nothing outside is settled. */
export function onceSettled(call: () => void): void {
  // Node empties the queue of promises, however long it grows, before it goes on with `nextTick`.
  queueMicrotask(() => process.nextTick(call))
}
