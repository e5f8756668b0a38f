import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import type { LlmData } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { canonical, canonicalOrNone } from '../../world/canonical.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { fingerprint } from '../../world/random.ts'
import { sha256 } from '../../base/sha256.ts'
import { oncePerObject, oncePerValue } from '../once-per.ts'
import { askedOf } from '../projection/prefix.ts'

const isCanonical = (value: object): boolean => canonicalOrNone(value) === value

/** A 31-bit hash: equal for equal declarations, in the World and on the Host. */
export const declarationHash = oncePerObject((declaration: ToolDeclaration): number => {
  const stored = canonical(declaration, () => `The declaration of tool '${declaration.name}'`)
  return fingerprint(JSON.stringify(stored)) % 2 ** 31
}, isCanonical)

/**
 * Hashes, by tool name, of all declarations of a world's Hosts: the current one's, and older ones that agents keep. Any
 * other declaration is a program's own.
 */
export function knownDeclarations(facts: HostFactsData | undefined): ReadonlyMap<string, ReadonlySet<number>> {
  const known = new Map<string, Set<number>>()
  const note = (name: string, hash: number): void => {
    const hashes = known.get(name)
    if (hashes === undefined) known.set(name, new Set([hash]))
    else hashes.add(hash)
  }
  for (const tools of [facts?.tools ?? {}, ...Object.values(facts?.skills ?? {})]) {
    for (const [name, hash] of Object.entries(tools)) note(name, hash)
  }
  for (const [name, hashes] of Object.entries(facts?.keptTools ?? {})) for (const hash of hashes) note(name, hash)
  return known
}

/** SHA-256 of a blueprint. Large parts (tools, skills, registries) are the parent's objects, hashed once. */
export function blueprintHash(blueprint: Omit<BlueprintData, 'hash'>): string {
  const fields = Object.entries(blueprint)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sha256(fields.map(([name, value]) => `${name}:${fieldText(value)}`).join('\n'))
}

function fieldText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(fieldText).join()}]`
  return typeof value === 'object' && value !== null ? objectHash(value) : JSON.stringify(value)
}

const objectHash = oncePerObject(
  (value: object): string => sha256(JSON.stringify(canonical(value, () => 'A blueprint'))),
  isCanonical,
)

/** What requests of two agents share, canonical and frozen as in a World. */
export interface SharedRequest {
  readonly llm: LlmData
  /** Hash of the settings that the provider adds, if it reports them. */
  readonly settings: number | undefined
  readonly system: string
  readonly tools: readonly ToolDeclaration[]
  readonly messages: readonly Message[]
  /** Number of shared messages. */
  readonly count: number
}

/**
 * SHA-256, in hex, of model and options, system prompt, tool declarations in order and the first `count` messages.
 * @throws `invalid-argument` for a count outside the messages
 */
export function prefixHash({ llm, settings, system, tools, messages, count }: SharedRequest): string {
  if (!Number.isInteger(count) || count < 0 || count > messages.length) {
    const what = `prefixHash: expected a count from 0 to ${messages.length}, as many as there are messages`
    throw new EntiaError('invalid-argument', `${what}, got ${count}.`)
  }
  const lines = [JSON.stringify(askedOf(llm)), String(settings), textDigest(system), listDigest(tools)]
  let from = 0
  for (; from + blockSize <= count; from += blockSize) lines.push(blockDigest(messages, from))
  for (; from < count; from++) lines.push(JSON.stringify(messages[from]))
  return sha256(lines.join('\n'))
}

const textDigest = oncePerValue(sha256, 100)
const listDigest = oncePerObject((list: readonly unknown[]): string => sha256(JSON.stringify(list)))

/** Messages are hashed in blocks, so that a longer prefix reuses the blocks of a shorter one. */
const blockSize = 64

interface Block {
  readonly messages: readonly Message[]
  readonly digest: string
}

/** Blocks by their first message, shared by forks and rewritten logs. Each use compares all messages. */
const blocks = new WeakMap<Message, Block>()

function blockDigest(messages: readonly Message[], from: number): string {
  const first = messages[from] as Message
  const known = blocks.get(first)
  if (known?.messages.every((message, index) => message === messages[from + index]) === true) return known.digest
  const part = messages.slice(from, from + blockSize)
  const digest = sha256(JSON.stringify(part))
  if (part.every(Object.isFrozen)) blocks.set(first, { messages: part, digest })
  return digest
}
