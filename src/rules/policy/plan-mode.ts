import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { worldDeclaration } from '../delegation/declarations.ts'
import type { UserMessage } from '../../protocol/message.ts'
import type { DeepReadonly } from '../../world/component.ts'

const note = '[plan mode: investigate and propose; change nothing until exit_plan_mode is approved]'

/** A message as an agent in plan mode gets it: closed by a text that says so. */
export function inPlanMode(message: DeepReadonly<UserMessage>): UserMessage {
  return { ...message, content: [...message.content, { type: 'text', text: note }] }
}

/** Asks the user to end plan mode. Declared to an agent before its first plan mode, and kept behind it. */
export const exitPlanModeDeclaration: ToolDeclaration = {
  ...worldDeclaration(
    'exit_plan_mode',
    'Proposes a plan to the user, and asks whether you may carry it out. Plan mode ends if the user agrees. Call it when ' +
      'you have found out enough.',
    {
      plan: { type: 'string', description: 'The plan, in Markdown: what you will change, and how you will check it.' },
    },
    ['plan'],
  ),
  approval: true,
}
