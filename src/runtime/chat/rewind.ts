import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { UserMessage } from '../../protocol/message.ts'
import { seqAt } from '../../rules/projection/places.ts'
import type { RewindPoint } from '../../rules/projection/rewind-point.ts'
import { isTakenBack, pointBack, takeBack } from '../ask/take-back.ts'
import type { Entity } from '../../world/component.ts'
import { checkOptions, flag, type ShapesOf } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { writePrivateFile } from '../config/folders.ts'
import type { FileBackups, PutBackFile, WrittenFile } from '../tools/file-backups.ts'

/** Options of `session.rewind`. */
export interface RewindOptions {
  /** Puts back the files that tools have written since. @default false */
  readonly files?: boolean | undefined
  /** With `files`: also those that were changed by another hand since. @default false */
  readonly changedFiles?: boolean | undefined
}

/** What going back would do. */
export interface RewindPlan {
  /** The message that is taken back first, with all behind it. */
  readonly message: UserMessage
  readonly fromSeq: number
  /** Files that tools have written since and that are not as they were before. */
  readonly files: readonly WrittenFile[]
  /** Calls since that ran commands or code: what they did stays. */
  readonly commands: number
  /** A summary of the conversation goes too; what it stood for is sent whole again. */
  readonly isSummaryDropped: boolean
}

/** What was done. */
export interface RewindResult extends Omit<RewindPlan, 'files'> {
  /** Empty where files were not to be put back. */
  readonly files: readonly PutBackFile[]
}

const rewindShapes: ShapesOf<RewindOptions> = { files: flag, changedFiles: flag }
const pendingName = 'pending.json'

/** Takes a chat session back to an earlier message of its user, and the files that its tools wrote since. */
export class Rewinding {
  readonly #backups: FileBackups
  readonly #folder: string | undefined

  /** @param folder where contents are kept; absent: files cannot be put back */
  constructor(backups: FileBackups, folder: string | undefined) {
    this.#backups = backups
    this.#folder = folder
  }

  /** Begins to keep what files had in them, and does what a crash has left of the last rewind. Before the Runner starts. */
  async begin(world: World, agent: Entity): Promise<void> {
    if (this.#folder === undefined) return
    this.#backups.keepIn(this.#folder, () => lastSeq(world, agent))
    const pending = await this.#pending(this.#folder)
    if (pending === undefined) return
    const { changedFiles, fromSeq } = pending
    if (isTakenBack(world, agent, fromSeq)) await this.#backups.putBack(fromSeq, changedFiles)
    await this.#forget()
  }

  /** @throws `invalid-argument` for a count that is none, or more than the user has said */
  async plan({ world }: Runner, agent: Entity, count: unknown): Promise<RewindPlan> {
    return { ...planned(world, agent, pointBack(world, agent, count)), files: await this.#files(world, agent, count) }
  }

  async #files(world: World, agent: Entity, count: unknown): Promise<readonly WrittenFile[]> {
    return this.#backups.writtenSince(pointBack(world, agent, count).seq)
  }

  /** @throws as `plan` does, and where the conversation has changed meanwhile */
  async rewind(runner: Runner, agent: Entity, count: unknown, options: RewindOptions): Promise<RewindResult> {
    checkOptions('rewind', options, rewindShapes)
    const { files = false, changedFiles = false } = options
    const { world } = runner
    const point = pointBack(world, agent, count)
    const plan = planned(world, agent, point)
    const { fromSeq } = plan
    // A crash between the two leaves the files to the next start.
    if (files) await this.#note({ fromSeq, changedFiles })
    try {
      await takeBack(runner, agent, count as number)
    } catch (error) {
      await this.#forget()
      throw error
    }
    const done = files ? await this.#backups.putBack(fromSeq, changedFiles) : []
    if (files) await this.#forget()
    return { ...plan, files: done }
  }

  async #pending(folder: string): Promise<Pending | undefined> {
    try {
      const { changedFiles, fromSeq } = JSON.parse(
        await readFile(join(folder, pendingName), 'utf8'),
      ) as Partial<Pending>
      return typeof fromSeq === 'number' ? { fromSeq, changedFiles: changedFiles === true } : undefined
    } catch {
      return undefined
    }
  }

  async #note(pending: Pending): Promise<void> {
    if (this.#folder !== undefined) await writePrivateFile(join(this.#folder, pendingName), JSON.stringify(pending))
  }

  async #forget(): Promise<void> {
    if (this.#folder !== undefined) await rm(join(this.#folder, pendingName), { force: true })
  }
}

/** Files that are to be put back once the conversation has gone back. */
interface Pending {
  readonly fromSeq: number
  readonly changedFiles: boolean
}

function planned(world: World, agent: Entity, { index, message, seq }: RewindPoint): Omit<RewindPlan, 'files'> {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  const executing = new Set(tools.flatMap(({ name, operation }) => (operation === 'exec' ? [name] : [])))
  const removed = world.read(agent, Conversation).slice(index)
  const calls = removed.flatMap(({ content, role }) => (role === 'assistant' ? content : []))
  return {
    message,
    fromSeq: seq,
    commands: calls.filter((block) => block.type === 'tool-call' && executing.has(block.name)).length,
    isSummaryDropped: world.get(agent, Boundary)?.some((boundary) => boundary.seq >= seq) === true,
  }
}

function lastSeq(world: World, agent: Entity): number {
  const { length } = world.get(agent, Conversation) ?? []
  return length === 0 ? 0 : seqAt(world, agent, length - 1)
}
