import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { flag, modelName, oneOf, positive, whole } from '../../src/protocol/setting.ts'

/** Which finished turns move to a holder. */
export const ArchivalTrigger = lazily(() =>
  z.strictObject({
    /** Agents at this depth or deeper never archive; one that the host made has depth 0. @default 3 */
    depthCap: whole(0).default(3),
    /** Turns stopped by their step limit. @default true */
    onMaxTurns: flag().default(true),
    /** Estimated tokens of a turn; `null`: no such limit. @default 8000 */
    tokenThreshold: whole(1).nullable().default(8_000),
    /** Tool calls of a turn; `null`: no such limit. @default 5 */
    toolCallThreshold: whole(1).nullable().default(5),
  }),
)

/** How the summary that stays behind is written. */
export const ArchivalSummary = lazily(() =>
  z.strictObject({
    /** In tokens per call. @default 1024 */
    maxOutputTokens: whole(1).default(1_024),
    /** `provider/model`; a bare name takes the agent's provider; `null`: the agent's own model. @default null */
    model: modelName().nullable().default(null),
    /** A JSON object of five keys, or three to five sentences. @default 'structured' */
    style: oneOf('structured', 'paragraph').default('structured'),
    /** World time for the summary, its retries and its repair together. @default 60000 */
    timeoutMs: positive().default(60_000),
  }),
)

/** Place of the block that lists live subagents. */
export const archivalPlacement = lazily(() => oneOf('tail', 'system').default('tail'))

export const archivalMaxListed = lazily(() => whole(1).default(50))

/** How the finished turns of an agent are archived. An agent without it is never archived. */
export const Archival = defineComponent('Archival', () =>
  z.strictObject({
    enabled: flag(),
    /** @default 50 */
    maxListed: archivalMaxListed(),
    /** `tail`: behind the conversation, outside the prefix law; `system`: at the end of the system prompt. @default 'tail' */
    placement: archivalPlacement(),
    summary: ArchivalSummary().prefault({}),
    trigger: ArchivalTrigger().prefault({}),
  }),
)
export type ArchivalData = DataOf<() => typeof Archival.schema>
