import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { json } from './values.ts'

/** Fields that a provider adds to a reply and Entia does not know: sent back unchanged, at their place, to it alone. */
export const ExtraFields = lazily(() =>
  z.strictObject({
    provider: z.string(),
    /** In the provider's own form. */
    fields: z.record(z.string(), json()),
  }),
)

/** `phase` is the provider's mark of a text (comment or final answer); it is sent back unchanged. */
export const TextBlock = lazily(() =>
  z.strictObject({
    type: z.literal('text'),
    text: z.string(),
    phase: z.enum(['commentary', 'final_answer']).optional(),
    extra: ExtraFields().optional(),
  }),
)

/** An image or another file: base64 `data`, or a `url`. */
export const FileBlock = lazily(() =>
  z.strictObject({
    type: z.literal('file'),
    mediaType: z.string(),
    data: z.string().optional(),
    url: z.string().optional(),
    name: z.string().optional(),
  }),
)

/**
 * Sent back unchanged to its own provider only. `signature` proves it, `redacted` is encrypted, `id` is optional; `field` is
 * where the reply has it, in a protocol with several places.
 */
export const ThinkingBlock = lazily(() =>
  z.strictObject({
    type: z.literal('thinking'),
    provider: z.string(),
    text: z.string(),
    signature: z.string().optional(),
    redacted: z.string().optional(),
    id: z.string().optional(),
    field: z.string().optional(),
    extra: ExtraFields().optional(),
  }),
)

/** `malformed` holds the raw text if it is no JSON object; `arguments` is then empty. */
export const ToolCallBlock = lazily(() =>
  z.strictObject({
    type: z.literal('tool-call'),
    id: z.string(),
    name: z.string(),
    arguments: z.record(z.string(), json()),
    malformed: z.string().optional(),
    extra: ExtraFields().optional(),
  }),
)

/** A tool that the provider ran itself, or its result: sent back unchanged to that provider only. */
export const ProviderBlock = lazily(() =>
  z.strictObject({
    type: z.literal('provider'),
    provider: z.string(),
    /** In the provider's own form. */
    data: z.record(z.string(), json()),
  }),
)

/** A message of a user. */
export const UserMessage = lazily(() =>
  z.strictObject({
    role: z.literal('user'),
    content: z.array(z.discriminatedUnion('type', [TextBlock(), FileBlock()])),
  }),
)

/** From the world in mid-conversation, such as a notification; sent as user-role text. */
export const SystemMessage = lazily(() => z.strictObject({ role: z.literal('system'), content: z.array(TextBlock()) }))

/** `model` is the requested `provider/model`; absent if no model wrote it. */
export const AssistantMessage = lazily(() =>
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [TextBlock(), ThinkingBlock(), ToolCallBlock(), ProviderBlock()])),
    model: z.string().optional(),
    extra: ExtraFields().optional(),
  }),
)

/** Results follow the assistant message, in the order of its calls. */
export const ToolMessage = lazily(() =>
  z.strictObject({
    role: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    content: z.array(z.discriminatedUnion('type', [TextBlock(), FileBlock()])),
    isError: z.boolean().optional(),
  }),
)

/** A message of a conversation. */
export const Message = lazily(() =>
  z.discriminatedUnion('role', [UserMessage(), SystemMessage(), AssistantMessage(), ToolMessage()]),
)

export type ExtraFields = DataOf<typeof ExtraFields>
export type TextBlock = DataOf<typeof TextBlock>
export type FileBlock = DataOf<typeof FileBlock>
export type ThinkingBlock = DataOf<typeof ThinkingBlock>
export type ToolCallBlock = DataOf<typeof ToolCallBlock>
export type ProviderBlock = DataOf<typeof ProviderBlock>
export type UserMessage = DataOf<typeof UserMessage>
export type SystemMessage = DataOf<typeof SystemMessage>
export type AssistantMessage = DataOf<typeof AssistantMessage>
export type ToolMessage = DataOf<typeof ToolMessage>
export type Message = DataOf<typeof Message>

/** A text alone is short for a message. */
export function userMessage(message: string | UserMessage): UserMessage {
  return typeof message === 'string' ? { role: 'user', content: [{ type: 'text', text: message }] } : message
}
