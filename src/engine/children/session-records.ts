import { parseEnvelope } from '../../rules/delegation/envelope.ts'
import type { Store } from '../../stores/port.ts'
import { type Records, storeRecords, textRecords } from '../../stores/records.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { sha256 } from '../../base/sha256.ts'
import type { World } from '../../world/world.ts'
import type { SessionOutcome } from '../../rules/delegation/session-outcome.ts'
import { cutText } from '../../base/cut-text.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import {
  SessionTexts,
  SubagentSession,
  type SubagentSessionData,
} from '../../../components/sessions/subagent-session.ts'

/** A text up to so long stays in the parent's record of a session; longer ones are read back from where they are kept. */
const shortBytes = { result: 600, summary: 300, prompt: 300 } as const
const excerptChars = 200
/** Longest text that a call which waited is answered with, in characters. */
export const maxAnswerChars = 50_000

export interface KeptSession {
  readonly world: string
  readonly sessionId: string
  /** Only in the background is the text looked at for an envelope. */
  readonly isBackground: boolean
  /** Longest text that goes into the world, since the records do not outlive the Runner. Absent: they do. */
  readonly maxKeptBytes: number | undefined
}

export async function keepResult(
  records: Records,
  { world, sessionId, isBackground, maxKeptBytes }: KeptSession,
  text: string,
  usage: SessionUsage | undefined,
): Promise<SessionOutcome> {
  const { result, summary } = isBackground ? parseEnvelope(text) : { result: text, summary: undefined }
  const artifactId = artifactIdOf(world, sessionId, result)
  const recordPath = recordPathOf(artifactId)
  const resultBytes = Buffer.byteLength(result)
  const summaryBytes = summary === undefined ? 0 : Buffer.byteLength(summary)
  const isSummaryShort = summaryBytes <= shortBytes.summary
  const texts = {
    ...(goesIntoWorld(resultBytes, shortBytes.result, maxKeptBytes) && { result: detached(result) }),
    ...(summary !== undefined &&
      goesIntoWorld(summaryBytes, shortBytes.summary, maxKeptBytes) && { summary: detached(summary) }),
  }
  try {
    if (texts.result === undefined) await records.put(recordPath, result)
    if (!isSummaryShort && summary !== undefined && texts.summary === undefined) {
      await records.put(summaryPathOf(recordPath), summary)
    }
  } catch (error) {
    const message = `Result could not be stored: ${thrownMessage(error)}`
    return { ok: false, error: message, kind: 'store-failed', ...(usage && { usage }) }
  }
  return {
    ok: true,
    artifactId,
    ...(resultBytes <= shortBytes.result && { inlineContent: detached(result) }),
    recordPath,
    resultBytes,
    resultExcerpt: detached(cutText(result, excerptChars)),
    ...(summary !== undefined && { summary: isSummaryShort ? detached(summary) : true }),
    text: capped(result),
    ...(Object.keys(texts).length > 0 && { texts }),
    ...(usage && { usage }),
  }
}

/** A text that is too long for the record of its session, and not for the world, which has to keep it. */
function goesIntoWorld(bytes: number, short: number, maxKeptBytes: number | undefined): boolean {
  return maxKeptBytes !== undefined && bytes > short && bytes <= maxKeptBytes
}

/**
 * Keeps a prompt that is too long for an ended session's record. Returns what the record has instead, if anything.
 * @param mayBeResumed the session may need the whole prompt again
 * @param maxKeptBytes longest prompt that the world keeps, where the records do not outlive the Runner
 */
export async function keepPrompt(
  records: Records,
  { prompt, promptRecord, sessionId }: Pick<SubagentSessionData, 'prompt' | 'promptRecord' | 'sessionId'>,
  mayBeResumed: boolean,
  maxKeptBytes: number | undefined,
): Promise<Pick<SubagentSessionData, 'promptCut' | 'promptRecord'> & { readonly prompt?: string }> {
  const bytes = Buffer.byteLength(prompt)
  if (promptRecord !== undefined || bytes <= shortBytes.prompt) return {}
  if (maxKeptBytes !== undefined) {
    if (mayBeResumed && bytes <= maxKeptBytes) return {}
    const beginning = detached(cutText(prompt, shortBytes.prompt))
    return { prompt: beginning, ...(mayBeResumed && { promptCut: { bytes, maxBytes: maxKeptBytes } }) }
  }
  const path = `scratchbook/prompts/${sessionId}`
  try {
    await records.put(path, prompt)
    return { prompt: detached(cutText(prompt, shortBytes.prompt)), promptRecord: path }
  } catch {
    // Then it stays where it is.
    return {}
  }
}

export async function wholePrompt(
  records: Records,
  { prompt, promptRecord }: Pick<SubagentSessionData, 'prompt' | 'promptRecord'>,
): Promise<string | undefined> {
  return promptRecord === undefined ? prompt : (await records.get(promptRecord))?.text
}

export function lostResult(resultBytes: number, maxKeptBytes: number | undefined): string {
  if (maxKeptBytes === undefined || resultBytes <= maxKeptBytes) return 'The record of this result is gone.'
  const limit = `a world without a store keeps results of up to ${maxKeptBytes} bytes (maxRecordBytes)`
  return `This result of ${resultBytes} bytes was not saved: ${limit}.`
}

function capped(text: string): string {
  const shown = cutText(text, maxAnswerChars)
  return shown === text ? text : `${detached(shown)}\n[${text.length - shown.length} characters left out]`
}

/** The same text, well formed, without the one that it was cut from: the engine keeps that alive as long as the part. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}

/** Where a Runner keeps the results of its sessions: the Host's folder, or the Store, or else memory and the world itself. */
export function recordsFor(folder: string | undefined, store: Store | undefined, world: World, root: string): Records {
  if (folder !== undefined) return folderRecords(folder)
  return store === undefined ? worldRecords(world) : storeRecords(store, root)
}

/**
 * Records as files in a folder for its owner alone, made at the first. The code for files is loaded at first use.
 * @param folder may be a link; a relative path counts from the working folder
 * @throws `invalid-argument` for an empty one
 */
export function folderRecords(folder: string): Records {
  if (folder === '')
    throw new EntiaError('invalid-argument', 'folderRecords: the path of the folder must not be empty.')
  const workingFolder = process.cwd()
  const load = async (): Promise<Records> => {
    const { RecordFolder } = await import('../../stores/record-folder.ts')
    return new RecordFolder(workingFolder, folder)
  }
  let records: Promise<Records> | undefined
  const loaded = () => (records ??= load())
  return {
    put: async (key, text) => (await loaded()).put(key, text),
    get: async (key, range) => (await loaded()).get(key, range),
  }
}

/** Records of a world without a store: those in the world itself, and in memory those that are too long for it. */
export function worldRecords(world: World): Records {
  const long = new Map<string, string>()
  return textRecords({
    put: (key, text) => void long.set(key, text),
    get: (key) => keptText(world, key) ?? long.get(key),
  })
}

function keptText(world: World, key: string): string | undefined {
  for (const session of world.entitiesWith(SubagentSession)) {
    const { inlineContent, recordPath } = world.read(session, SubagentSession)
    if (recordPath === undefined) continue
    if (key === recordPath) return world.get(session, SessionTexts)?.result ?? inlineContent
    if (key === summaryPathOf(recordPath)) return world.get(session, SessionTexts)?.summary
  }
  return undefined
}

/** Equal results have equal ids, so keeping one twice keeps it once. */
export function artifactIdOf(worldId: string, sessionId: string, result: string): string {
  return `subagent_${sha256(JSON.stringify([worldId, sessionId, result])).slice(0, 24)}`
}

export function recordPathOf(artifactId: string): string {
  return `scratchbook/records/subagent/${artifactId}`
}

export function summaryPathOf(recordPath: string): string {
  return `${recordPath}.summary`
}
