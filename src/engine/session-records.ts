import type { Store } from '../stores/port.ts'
import { artifactIdOf, recordPathOf } from '../subagents/artifact-id.ts'
import { parseEnvelope } from '../subagents/envelope.ts'
import { folderRecords } from '../subagents/folder-records.ts'
import { memoryRecords } from '../subagents/memory-records.ts'
import type { Records } from '../subagents/records.ts'
import type { SessionOutcome } from '../subagents/session-outcome.ts'
import { storeRecords } from '../subagents/store-records.ts'
import { cutText } from '../tools/cut-text.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import type { SessionUsage, SubagentSessionData } from '../../components/subagent-session.ts'

/** A text up to so long stays in the parent's record of a session; longer ones are read back from where they are kept. */
const maxKeptBytes = { result: 600, summary: 300, prompt: 300 } as const
const excerptChars = 200
/** Longest text that a call which waited is answered with, in characters. */
export const maxAnswerChars = 50_000

/** Where the results of a Runner's sessions are kept: the Host's folder, or the Store, or else memory. */
export function recordsFor(folder: string | undefined, store: Store | undefined, root: string): Records {
  if (folder !== undefined) return folderRecords(folder)
  return store === undefined ? memoryRecords() : storeRecords(store, root)
}

/** A session whose text is to be kept. */
export interface KeptSession {
  readonly world: string
  readonly sessionId: string
  /** Only in the background is the text looked at for an envelope. */
  readonly isBackground: boolean
}

/** Keeps a session's result, and gives what its parent is to know of it. Fails if it cannot be kept. */
export async function keepResult(
  records: Records,
  { world, sessionId, isBackground }: KeptSession,
  text: string,
  usage: SessionUsage,
): Promise<SessionOutcome> {
  const { result, summary } = isBackground ? parseEnvelope(text) : { result: text, summary: undefined }
  const artifactId = artifactIdOf(world, sessionId, result)
  const recordPath = recordPathOf(artifactId)
  const resultBytes = Buffer.byteLength(result)
  const isSummaryShort = summary === undefined || Buffer.byteLength(summary) <= maxKeptBytes.summary
  try {
    await records.put(recordPath, result)
    if (!isSummaryShort) await records.put(summaryPathOf(recordPath), summary)
  } catch (error) {
    const message = `Result could not be stored: ${thrownMessage(error)}`
    return { ok: false, error: message, kind: 'store-failed', usage }
  }
  return {
    ok: true,
    artifactId,
    ...(resultBytes <= maxKeptBytes.result && { inlineContent: detached(result) }),
    recordPath,
    resultBytes,
    resultExcerpt: detached(cutText(result, excerptChars)),
    ...(summary !== undefined && { summary: isSummaryShort ? detached(summary) : true }),
    text: capped(result),
    usage,
  }
}

/** Where the summary of a result lies whose record is there. */
export function summaryPathOf(recordPath: string): string {
  return `${recordPath}.summary`
}

/** Keeps a prompt that is too long for an ended session's record; gives what stands there instead, if anything does. */
export async function keepPrompt(
  records: Records,
  { prompt, promptRecord, sessionId }: Pick<SubagentSessionData, 'prompt' | 'promptRecord' | 'sessionId'>,
): Promise<{ readonly prompt?: string; readonly promptRecord?: string }> {
  if (promptRecord !== undefined || Buffer.byteLength(prompt) <= maxKeptBytes.prompt) return {}
  const path = `scratchbook/prompts/${sessionId}`
  try {
    await records.put(path, prompt)
    return { prompt: detached(cutText(prompt, maxKeptBytes.prompt)), promptRecord: path }
  } catch {
    // Then it stays where it is.
    return {}
  }
}

/** The whole of a session's prompt. */
export async function wholePrompt(
  records: Records,
  { prompt, promptRecord }: Pick<SubagentSessionData, 'prompt' | 'promptRecord'>,
): Promise<string> {
  return promptRecord === undefined ? prompt : ((await records.get(promptRecord))?.text ?? prompt)
}

function capped(text: string): string {
  const shown = cutText(text, maxAnswerChars)
  return shown === text ? text : `${detached(shown)}\n[${text.length - shown.length} characters left out]`
}

/** The same text, well formed, without the one that it was cut from: the engine keeps that alive as long as the part. */
function detached(text: string): string {
  return Buffer.from(text).toString()
}
