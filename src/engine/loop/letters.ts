import type { Input } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { Children } from '../children/children.ts'
import type { AnswerInput, LetterToSession } from '../children/child-run.ts'
import { readLetter } from '../../protocol/letter.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Letter } from '../../stores/port.ts'
import { type Entrance, postedInput } from './entrance.ts'
import type { StreamEvent } from './events.ts'
import { LetterBox, type Mail } from './letter-box.ts'
import { onlyAgent } from './only-agent.ts'
import type { HeldWorld } from './stored-world.ts'

interface Recipient {
  readonly world: World
  readonly entrance: Entrance
  /** Made when they are first needed. */
  readonly children: () => Children
  /** Of a session: its grant, and that it ends. */
  readonly told: ((letter: LetterToSession, id: number) => void) | undefined
  /** Of a session: it goes on with nothing. What it gets but what its own sessions tell has no meaning any more. */
  readonly isOver: boolean
  /** Passes an answer on to the world below that asked. False: none did. */
  readonly isPassedOn: (input: AnswerInput) => Promise<boolean>
  readonly emit: (event: StreamEvent) => void
}

interface LetterReader extends Recipient, Pick<Mail, 'agentOf'> {
  /** The letter may go. */
  readonly done: (letter: number) => void
  readonly refused: (letter: number, message: string) => void
}

/** Takes the letters that lie in the store for a world, and those that come, until the box is closed. */
export function openLetters({ journal, mail }: HeldWorld, recipient: Recipient): LetterBox | undefined {
  if (journal === undefined || mail === undefined) return undefined
  const { emit, world } = recipient
  const done = (letter: number): void => journal.done(letter)
  const refused = (letter: number, message: string): void => {
    done(letter)
    emit({ type: 'letter-refused', world: world.name, letter, message })
  }
  const reader = { ...recipient, agentOf: mail.agentOf, done, refused }
  const box = new LetterBox({ ...mail, take: (letter) => void takeLetter(letter, reader) })
  journal.onCommit = () => box.committed()
  box.open()
  return box
}

/** Gives what a letter says to the part of the Runner that it is for. */
async function takeLetter({ id, line }: Letter, reader: LetterReader): Promise<void> {
  const { children, done, isOver, refused, told } = reader
  const letter = readLetter(line)
  if (typeof letter === 'string') return refused(id, `Letter ${id} is refused: ${letter}.`)
  if (isOver && !('session' in letter)) return done(id)
  if ('input' in letter) return takeInput(letter.input, id, reader)
  if ('session' in letter) {
    const { remote } = children()
    if (remote === undefined) return refused(id, `Letter ${id} is refused: no session of this world runs elsewhere.`)
    return remote.hear(letter.session, letter.news, id)
  }
  if (told === undefined) return refused(id, `Letter ${id} is refused: this world is no session that runs by letters.`)
  told(letter, id)
}

/** A message, or its cancellation, that names no agent is for the one that is spoken to. */
function addressed(given: Readonly<Record<string, unknown>>, { agentOf, world }: LetterReader): unknown {
  const isForAgent = (given['kind'] === 'message' || given['kind'] === 'cancel') && given['agent'] === undefined
  return isForAgent ? { ...given, agent: agentOf?.(world) ?? onlyAgent(world) } : given
}

async function takeInput(given: Readonly<Record<string, unknown>>, id: number, reader: LetterReader): Promise<void> {
  const { done, entrance, isPassedOn, refused, world } = reader
  let input: Input
  try {
    input = postedInput(world, addressed(given, reader))
    if (input.kind === 'answer' && (await isPassedOn(input as AnswerInput))) return done(id)
  } catch (error) {
    return refused(id, thrownMessage(error))
  }
  if (!entrance.enterLetter(input, id)) done(id)
}
