import type { Mutation } from './mutation.ts'

const job = 'src/engine/effects/job.ts'
const pump = 'src/engine/effects/pump.ts'
const slots = 'src/engine/effects/slots.ts'
const host = 'src/engine/effects/host.ts'
const letterBox = 'src/engine/loop/letter-box.ts'
const rewinding = 'systems/agent/rewinding.ts'

/** Bugs of the second one: an abort that ends one of two, a list whose second member is missed, a call that waits in line. */
export const linesAndPagesMutations: readonly Mutation[] = [
  {
    name: 'one-of-two-sleeps-is-broken-off',
    bug: 'work that is called off while it sleeps in several places sleeps on in all but one',
    file: job,
    before: '    for (const wait of this.#otherSleeps ?? []) wait.breakOff()\n',
    after: '',
    test: 'test/engine/effects/job.test.ts',
  },
  {
    name: 'second-sleep-counts-as-work',
    bug: 'the clock waits for work that sleeps in a second place',
    file: job,
    before: '    else (this.#otherSleeps ??= new Set()).add(wait)\n    this.end()\n',
    after: '    else return void (this.#otherSleeps ??= new Set()).add(wait)\n    this.end()\n',
  },
  {
    name: 'one-awake-is-all-awake',
    bug: 'the clock waits for work as soon as one of its sleeps is over',
    file: job,
    before: '    if (this.#waits === 0 && !this.isOver) this.#clock.begin?.()\n',
    after: '    if (!this.isOver) this.#clock.begin?.()\n',
  },
  {
    name: 'broken-off-sleep-keeps-its-timer',
    bug: 'the timer of a sleep that was broken off stays, and the clock goes on to it',
    file: 'src/engine/loop/clock.ts',
    before: '    this.cancel?.()\n    this.#sleeper.awake(this)\n',
    after: '    this.#sleeper.awake(this)\n',
    test: 'test/engine/effects/job.test.ts',
  },
  {
    name: 'cancelled-in-line-keeps-its-place',
    bug: 'a call that is cancelled while it waits in line takes a slot that it never gives back',
    file: pump,
    before: '    if (job.isCalledOff) return free()\n',
    after: '    if (job.isCalledOff) return\n',
  },
  {
    name: 'cancelled-in-line-is-made',
    bug: 'a call that is cancelled while it waits in line is made all the same',
    file: pump,
    before: '    if (job.isCalledOff) return free()\n',
    after: '',
    test: 'test/behaviour/turns/cancelling.test.ts',
  },
  {
    name: 'line-is-not-fitted',
    bug: 'work that waits in line does not begin when work ends that began without waiting',
    file: slots,
    before: '    if (this.#line !== undefined && this.#line.size > 0) this.#fit()\n',
    after: '',
  },
  {
    name: 'one-too-many-at-once',
    bug: 'one call more than the limit of its provider is made at once',
    file: slots,
    before: 'this.#direct + (this.#line?.pending ?? 0) < this.#max',
    after: 'this.#direct + (this.#line?.pending ?? 0) <= this.#max',
    test: 'test/engine/loop/back-pressure.test.ts',
  },
  {
    name: 'line-of-provider-leaks',
    bug: 'a call gives its slot of all effects back, and not that of its provider',
    file: host,
    before: '          leaveQueue?.()\n',
    after: '',
  },
  {
    name: 'held-call-keeps-its-room',
    bug: 'a call whose provider was held while it waited keeps the slot of all effects that it got meanwhile',
    file: host,
    before: '        this.enqueue(name, begin)\n        free()\n',
    after: '        this.enqueue(name, begin)\n        leaveQueue?.()\n',
    test: 'test/engine/loop/back-pressure.test.ts',
  },
  {
    name: 'second-page-of-letters-is-not-read',
    bug: 'a world with more letters than are read at once reads the first page alone',
    file: letterBox,
    before: '    this.#isMore = letters.length === maxWaiting\n',
    after: '',
    test: 'test/engine/loop/letter-box.test.ts',
  },
  {
    name: 'letters-are-given-twice',
    bug: 'a letter that is read a second time before its tick is given out again',
    file: letterBox,
    before: '    for (const letter of letters) if (!before.has(letter.id)) this.#options.take(letter)\n',
    after: '    for (const letter of letters) this.#options.take(letter)\n',
    test: 'test/engine/loop/letter-box.test.ts',
  },
  {
    name: 'letters-behind-the-page-are-forgotten',
    bug: 'letters that others have pushed out of the page that is read are given out again',
    file: letterBox,
    before: '    if (this.#isMore) for (const id of before) if (id > lastId) this.#given.add(id)\n',
    after: '',
    test: 'test/engine/loop/letter-box.test.ts',
  },
  {
    name: 'rewound-first-session-only',
    bug: 'who goes back over two sessions ends the first of them',
    file: rewinding,
    before: '  for (const session of new Set(sessions)) {\n',
    after: '  for (const session of new Set(sessions.slice(0, 1))) {\n',
  },
  {
    name: 'rewound-news-stays',
    bug: 'an agent hears of a session that has ended and whose launch was taken back',
    file: rewinding,
    before: '    if (finishedAtMs !== undefined) markRead(world, session)\n',
    after: '    if (finishedAtMs !== undefined) continue\n',
  },
  {
    name: 'second-page-of-inputs-is-lost',
    bug: 'of more inputs than a tick takes, those behind the first page are dropped',
    file: 'src/engine/loop/inbox.ts',
    before: '    this.#next = end\n    if (this.#next >= this.#entries.length',
    after:
      '    this.#next = change === undefined ? this.#entries.length : end\n    if (this.#next >= this.#entries.length',
    test: 'test/engine/loop/bounded-ticks.test.ts',
  },
]
