import { Conversation } from '../../../components/agent/conversation.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import type { Message } from '../../protocol/message.ts'
import { acceptedMessage } from '../../models/accepted-message.ts'
import type { Entity } from '../../world/component.ts'
import type { WorldEvent } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law } from '../law.ts'
import { Conversations, conversationsConcern, type Reading } from './conversations.ts'

/** What a provider is sent for a message; `undefined`: the message is left out. */
type Sends = (message: Message) => Message | undefined

/** A provider that accepts everything it may. */
const sendsAll: Sends = (message) => acceptedMessage(message, () => true)

export const conversationsValid: Law = conversationsValidAs(sendsAll)

export function conversationsValidAs(sends: Sends): Law {
  return {
    concern: { ...conversationsConcern, events: ['model-called'] },
    name: 'conversations-valid',
    meaning:
      'A conversation is valid for every provider: results stand right behind their calls, in call order; no message is sent empty or with thinking at its end; and a model is asked only where there is something to answer.',
    watch(run) {
      const conversations = run.shared(Conversations)
      const sound = new WeakSet<Message>()
      return {
        began: ({ world }) => said(conversations.began(world)),
        ticked(tick) {
          const finding = said(conversations.ticked(tick))
          if (finding !== undefined) return finding
          for (const event of tick.step.events) {
            if (event.type !== 'model-called') continue
            const agent = event['agent'] as Entity
            const [open] = conversations.open(tick.world, agent)
            if (open !== undefined) return `the model of agent ${agent} is asked while call '${open}' has no result`
            const problem = wrongWith(askedWith(tick.world, agent, event), sends, sound)
            if (problem !== undefined) return `the model of agent ${agent} is asked, and ${problem}`
          }
          return undefined
        },
      }
    },
  }
}

/** The messages a step answers; none if the step is over. */
function askedWith(world: World, agent: Entity, event: WorldEvent): readonly Message[] {
  const step = event['effect'] as Entity | undefined
  const count = step === undefined ? undefined : world.get(step, ModelCall)?.messages
  return count === undefined ? [] : (world.get(agent, Conversation)?.slice(0, count) ?? [])
}

/** @param sound messages checked before: each is always sent in the same form */
function wrongWith(messages: readonly Message[], sends: Sends, sound: WeakSet<Message>): string | undefined {
  for (const message of messages) {
    if (sound.has(message)) continue
    const problem = problemOf(message, sends(message))
    if (problem !== undefined) return problem
    sound.add(message)
  }
  const last = messages.findLast((message) => sends(message) !== undefined)
  return last?.role === 'assistant' ? 'its own words are the last' : undefined
}

function problemOf({ role }: Message, sent: Message | undefined): string | undefined {
  if (sent === undefined) return role === 'assistant' ? undefined : `a message of role '${role}' is left out`
  if (sent.role === 'tool') return undefined
  const last = sent.content.at(-1)
  if (last?.type === 'thinking') return 'a message ends in thinking, with nothing behind it'
  const isEmpty = sent.content.every((block) => block.type === 'text' && block.text.trim() === '')
  return isEmpty ? `a message of role '${role}' is sent empty` : undefined
}

function said({ faults }: Reading): Finding {
  if (faults.length === 0) return undefined
  const fault = faults.find(({ kind }) => kind === 'misplaced')
  return fault && `in the conversation of agent ${fault.agent}, ${fault.problem}`
}
