import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { json } from './values.ts'

/**
 * Text of a message. `phase` is what a provider calls a text that its model wrote (a comment on the way, the final
 * answer); it goes back unchanged.
 */
export const TextBlock = lazily(() =>
  z.strictObject({
    type: z.literal('text'),
    text: z.string(),
    phase: z.enum(['commentary', 'final_answer']).optional(),
  }),
)

/** An image or another file: either its bytes in base64 (`data`) or where it lies (`url`). */
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
 * What a model thought before it answered. It goes back unchanged to the provider that wrote it, and to no other:
 * `signature` proves it, `redacted` holds what the provider sent encrypted, `id` names it where a provider wants that.
 */
export const ThinkingBlock = lazily(() =>
  z.strictObject({
    type: z.literal('thinking'),
    provider: z.string(),
    text: z.string(),
    signature: z.string().optional(),
    redacted: z.string().optional(),
    id: z.string().optional(),
  }),
)

/**
 * A model's request for a tool. `malformed` holds the raw text when what the model wrote is no JSON object;
 * `arguments` is then empty.
 */
export const ToolCallBlock = lazily(() =>
  z.strictObject({
    type: z.literal('tool-call'),
    id: z.string(),
    name: z.string(),
    arguments: z.record(z.string(), json()),
    malformed: z.string().optional(),
  }),
)

/**
 * A block that only its provider understands: a tool that the provider ran itself, and its result. It is kept as it is
 * and goes back unchanged to that provider, and to no other.
 */
export const ProviderBlock = lazily(() =>
  z.strictObject({
    type: z.literal('provider'),
    /** Who wrote it. */
    provider: z.string(),
    /** The block in the provider's own form. */
    data: z.record(z.string(), json()),
  }),
)

/** The user speaks. */
export const UserMessage = lazily(() =>
  z.strictObject({
    role: z.literal('user'),
    content: z.array(z.discriminatedUnion('type', [TextBlock(), FileBlock()])),
  }),
)

/** The world speaks in mid-conversation (a notification, say); it goes out as user-role text. */
export const SystemMessage = lazily(() => z.strictObject({ role: z.literal('system'), content: z.array(TextBlock()) }))

/** The model speaks. `model` is `provider/model` as asked for; absent when no model wrote it. */
export const AssistantMessage = lazily(() =>
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [TextBlock(), ThinkingBlock(), ToolCallBlock(), ProviderBlock()])),
    model: z.string().optional(),
  }),
)

/** The result of one tool call. Results stand behind the assistant message that asked, in the order of its calls. */
export const ToolMessage = lazily(() =>
  z.strictObject({
    role: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    content: z.array(z.discriminatedUnion('type', [TextBlock(), FileBlock()])),
    isError: z.boolean().optional(),
  }),
)

/** One message of a conversation, in the form that every provider's wire form is made from. */
export const Message = lazily(() =>
  z.discriminatedUnion('role', [UserMessage(), SystemMessage(), AssistantMessage(), ToolMessage()]),
)

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
