import { defineTag } from '../../src/world/component.ts'

/** Something keeps the agent from its next step: one of the components that `systems/kit/hold-step.ts` names. */
export const StepHeld = defineTag('StepHeld')

/** A summary of the agent's conversation is being written, which its next step waits for. */
export const Summarizing = defineTag('Summarizing')

/** Whether the agent's model may be called is being asked of the agent that pays for it. */
export const AllowanceAwaited = defineTag('AllowanceAwaited')

/** What the agent's model costs is being asked, before its first call under a ceiling. */
export const RatesAwaited = defineTag('RatesAwaited')
