import { Conversation } from '../../../components/conversation.ts'
import { ModelCall } from '../../../components/model-call.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { concerning, type Finding, type Law } from '../law.ts'
import { Conversations, conversationsConcern, type Reading } from './conversations.ts'

/**
 * Every provider takes a conversation as it stands: results right behind the message that called, in the order of its
 * calls, each of a call. While calls are open, messages that came meanwhile stand behind them; no model is asked then, nor
 * where its own words are the last.
 */
export const conversationsValid: Law = concerning(
  { ...conversationsConcern, events: ['model-called'] },
  {
    name: 'conversations-valid',
    meaning:
      'A conversation is valid for every provider: results stand right behind their calls, in call order, and a model is asked only where there is something to answer.',
    watch(run) {
      const conversations = Conversations.of(run)
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
            if (isAnswered(tick.world, agent, event['effect'] as Entity | undefined)) {
              return `the model of agent ${agent} is asked, and its own words are the last`
            }
          }
          return undefined
        },
      }
    },
  },
)

/** Has a step nothing to answer? */
function isAnswered(world: World, agent: Entity, step: Entity | undefined): boolean {
  const messages = step === undefined ? undefined : world.get(step, ModelCall)?.messages
  return messages !== undefined && world.get(agent, Conversation)?.[messages - 1]?.role === 'assistant'
}

function said({ faults }: Reading): Finding {
  if (faults.length === 0) return undefined
  const fault = faults.find(({ kind }) => kind === 'misplaced')
  return fault && `in the conversation of agent ${fault.agent}, ${fault.problem}`
}
