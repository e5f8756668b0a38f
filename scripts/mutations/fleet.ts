import type { Mutation } from './mutation.ts'

const board = 'src/sim/fleet/simulated-board.ts'
const tenure = 'src/engine/fleet/session-tenure.ts'

/** Bugs in what several processes share, told with three of them where no test finds them. The first four were found in a prototype by chaos. */
export const fleetMutations: readonly Mutation[] = [
  {
    name: 'late-dequeue-not-recovered',
    bug: 'what a worker holds is freed when it dies, and not what is given to it after its death',
    file: board,
    before: '    if (this.presence.sweep()) this.changed()\n',
    after: '    if (!this.presence.sweep()) return\n    this.changed()\n',
    processes: 3,
  },
  {
    name: 'suspected-stays-suspected',
    bug: 'a living worker that was thought dead is robbed again and again, since a beat does not enter it anew',
    file: 'src/sim/fleet/presence.ts',
    before: '  beat(worker: string): void {\n',
    after: '  beat(worker: string): void {\n    if (!this.#seenMs.has(worker)) return\n',
    processes: 3,
  },
  {
    name: 'fenced-failure-overwrites',
    bug: 'a tenure that was succeeded ends the session of its successor with its own failure',
    file: tenure,
    before: '    if (isElsewhere) throw failure\n    await this.#held.journal.send(this.#news.failed(failure))\n',
    after:
      '    for (const post of this.#news.failed(failure)) await this.#parts.store.post(post)\n    if (isElsewhere) throw failure\n',
    processes: 3,
  },
  {
    name: 'zombie-tells-the-end',
    bug: 'the end of a session leaves its tenure ahead of the commit, whoever holds its World by then',
    file: tenure,
    before: '    outgoing: () => news.due(),\n',
    after: '    outgoing: () => (news.due().forEach((post) => void store.post(post)), []),\n',
    processes: 3,
  },
  {
    name: 'fence-not-checked',
    bug: 'a holder that was succeeded writes on',
    file: 'src/stores/open-database.ts',
    before: '    if (this.#isFenced) throw fencedError(this.name, this.epoch)\n',
    after: '',
    processes: 3,
  },
  {
    name: 'letter-gone-without-its-tick',
    bug: 'a letter is removed when it is read, and not with the tick that takes it',
    file: 'src/engine/loop/letters.ts',
    before: '  if (!entrance.enterLetter(input, id)) done(id)\n',
    after: '  entrance.enterLetter(input, id)\n  done(id)\n',
    processes: 3,
  },
  {
    name: 'strikes-not-counted',
    bug: 'a session is given to worker after worker, however many have died of it',
    file: board,
    before: '      if (place.lostBy !== undefined && place.lostBy !== worker) place.strikes++\n',
    after: '',
    processes: 3,
  },
  {
    name: 'last-come-first-given',
    bug: 'of the sessions that never had a slot, the newest is given the next',
    file: 'src/sim/fleet/line-place.ts',
    before: '...waiting.filter(({ isReturning }) => !isReturning)]',
    after: '...waiting.filter(({ isReturning }) => !isReturning).toReversed()]',
    processes: 3,
  },
  {
    name: 'lost-answers-forgotten',
    bug: 'a session that a worker was given by an answer that was lost stays with it for ever',
    file: 'src/engine/fleet/worker.ts',
    before: '      if (sinceMs <= beforeMs) this.#holdClaim(claim)\n',
    after: '      if (sinceMs < 0) this.#holdClaim(claim)\n',
    processes: 3,
  },
  {
    name: 'waiting-sessions-need-a-slot',
    bug: 'a session that only waits is taken over with a slot, which what it waits for may have',
    file: board,
    before: '    const wantsSlot = place.hasSlot || place.wantsSlot\n',
    after: '    const wantsSlot = true\n',
    test: 'test/behaviour/fleet/workers.test.ts',
  },
  {
    name: 'grant-awaited-for-ever',
    bug: 'a session keeps its slot while it waits for its grant, and its parent waits for that slot to give it',
    file: tenure,
    before: 'host.clock.at(host.clock.now() + grantedWithinMs, ',
    after: 'host.clock.at(Infinity, ',
    test: 'test/behaviour/fleet/workers.test.ts',
  },
  {
    name: 'stopped-session-goes-on',
    bug: 'a session that was stopped goes on where it is opened again',
    file: tenure,
    before: '    if (run.wasStopped) {\n',
    after: '    if (run.wasStopped && run.hasEnded) {\n',
    processes: 3,
  },
  {
    name: 'next-tick-forgotten',
    bug: 'a world that wants another tick at once is left alone by all when its process dies before it',
    file: 'src/engine/loop/journal-writer.ts',
    before: 'isBusy: step.again === true || isBusy(world),',
    after: 'isBusy: isBusy(world),',
    processes: 3,
  },
]
