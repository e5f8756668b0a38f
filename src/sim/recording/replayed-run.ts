import { Effect, OwnedBy } from '../../../components/effects/effect.ts'
import type { Host } from '../../engine/effects/host.ts'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import type { DrivenWorld, HostSeams } from '../../engine/effects/host-seams.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import { parseModel } from '../../protocol/model-name.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { Component, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { OnMiss } from '../options.ts'
import type { SimulatedWork } from '../simulated-work.ts'
import { AnswerBook, StepCounter } from './answer-book.ts'
import { type Asked, askedBy } from './asked.ts'
import { type Missed, missed } from './missed.ts'
import { OutsideInputs } from './outside-inputs.ts'
import { type RecordedAnswers, recordedAnswers } from './recorded-answers.ts'
import { type Recall, recordedHost } from './recorded-host.ts'
import { RecordedPace } from './recorded-pace.ts'
import { otherVersion, type Recording } from '../../engine/recording/recording.ts'

interface ReplayedRunParts {
  readonly recording: Recording
  readonly onMiss: OnMiss
  readonly components: Iterable<Component>
  readonly clock: VirtualClock
  readonly label: (world: string) => string
  readonly world: World
  readonly runner: () => Runner | undefined
  /** Users are simulated: recorded users stay silent. */
  readonly hasUsers: boolean
  /** Faults may strike, so the run cannot go the same way. */
  readonly hasFaults: boolean
  readonly broke: (message: string, label: string) => void
}

export class ReplayedRun {
  readonly missed: Missed[] = []
  readonly outside: OutsideInputs
  readonly #parts: ReplayedRunParts
  readonly #answers: RecordedAnswers
  readonly #book: AnswerBook
  readonly #steps = new StepCounter()
  readonly #pace: RecordedPace
  #cutOff: Missed | undefined
  #isBroken = false

  /** @throws `corrupt-journal`, and what restoring throws */
  constructor(parts: ReplayedRunParts) {
    const { recording, components, clock, label, runner, hasUsers, hasFaults } = parts
    this.#parts = parts
    this.#answers = recordedAnswers(recording, { components })
    this.#book = new AnswerBook(this.#answers.calls)
    this.outside = new OutsideInputs(!hasUsers, runner)
    this.#pace = new RecordedPace({
      ticks: this.#answers.ticks,
      clock,
      label,
      outside: this.outside,
      isKept: !hasUsers && !hasFaults,
      over: () => void this.#end(),
    })
  }

  host(options: HostOptions, seams: Required<Omit<HostSeams, 'committing' | 'fleet'>>, work: SimulatedWork): Host {
    const { world } = this.#parts
    const recall: Recall = (driven, effect) => this.#recall(driven, effect, options)
    return recordedHost(options, this.#paced(seams), { answers: this.#answers, recall, work, world })
  }

  /** Called when nothing is due. Returns whether this started something. */
  goOn(): boolean {
    return this.#end() || this.#pace.leave()
  }

  /** At the end of the recording, breaks the run if something was in flight. */
  #end(): boolean {
    const cutOff = this.#cutOff
    this.#cutOff = undefined
    if (cutOff !== undefined) this.#broken(cutOff, orScript)
    return cutOff !== undefined
  }

  #paced(seams: Required<Omit<HostSeams, 'committing' | 'fleet'>>): HostSeams {
    const pace = this.#pace
    return {
      ...seams,
      began(driven) {
        seams.began(driven)
        pace.began(driven)
      },
      ticked(driven, step) {
        seams.ticked(driven, step)
        pace.ticked(driven, step)
      },
      deliver(driven: DrivenWorld, input: StandardInput, enter) {
        seams.deliver(driven, input, () => pace.deliver(driven, input, enter))
      },
    }
  }

  #recall(world: World, effect: Entity, options: HostOptions): ReturnType<Recall> {
    const { onMiss } = this.#parts
    if (this.#isBroken) return 'broken'
    const asked = askedBy(world, effect)
    // Simulated users answer themselves.
    if (asked.kind === 'approval' && options.approve !== undefined) return 'scripted'
    const label = this.#parts.label(world.name)
    const { attempt } = world.read(effect, Effect)
    const agent = world.get(effect, OwnedBy)?.agent
    const place = { label, agent, step: this.#steps.stepOf(label, agent, asked.kind, effect), attempt }
    const found = this.#book.take(asked, place, `${label}/${effect} ${attempt}`)
    if (found !== undefined && found.outcome !== 'cut-off') return found
    const miss = missed(asked, place, world.tick, found ?? this.#book.nearest(asked, place), this.#hint())
    if (found !== undefined && onMiss === 'fail') {
      // The rest of the recording comes first.
      this.#cutOff ??= miss
      return found
    }
    const lack = onMiss === 'fail' ? orScript : lackOf(asked, options)
    if (lack !== undefined) return this.#broken(miss, lack)
    this.missed.push(miss)
    this.#pace.leave()
    return 'scripted'
  }

  #broken(miss: Missed, advice: string): 'broken' {
    this.#isBroken = true
    this.missed.push(miss)
    this.#parts.broke(`${miss.message} ${advice}`, miss.label)
    return 'broken'
  }

  /** Requests contain ids of sessions, which are made from the root world's name and seed. */
  #hint(): string | undefined {
    const { recording, world } = this.#parts
    if (world.name === recording.root && world.seed === recording.seed) return otherVersion(recording)
    const made = `'${world.name}' with seed ${world.seed}`
    const was = `'${recording.root}' with seed ${recording.seed}`
    return `The recorded world is ${was}, and this one is ${made}: ids of sessions are made of both. Make it the same.`
  }
}

const orScript = "To go on from there, pass onMiss: 'script', and in 'models' and 'tools' who is to go on."

function lackOf(
  { kind, name }: Asked,
  { effects = {}, models = {}, tools = [], skills = [] }: HostOptions,
): string | undefined {
  switch (kind) {
    case 'model': {
      const { provider } = parseModel(name)
      return Object.hasOwn(models, provider)
        ? undefined
        : `To go on from there, pass a provider '${provider}' in 'models'.`
    }
    case 'tool': {
      const given = [...tools, ...skills.flatMap((skill) => skill.tools ?? [])]
      const isGiven = given.some(({ declaration }) => declaration.name === name)
      return isGiven ? undefined : `To go on from there, pass the tool '${name}' in 'tools'.`
    }
    case 'approval':
      return undefined
    default:
      return Object.hasOwn(effects, kind) ? undefined : `To go on from there, pass '${kind}' in 'effects'.`
  }
}
