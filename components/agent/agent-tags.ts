import { defineTag } from '../../src/world/component.ts'

/** The agent's model has given a final text in this tick; the end of the turn is to be decided. */
export const Answered = defineTag('Answered')

/** A step of the agent is under way: its model is being asked, or tools that it called are not all answered. */
export const Busy = defineTag('Busy')

/** The step under way is the last that the agent's turn may take. */
export const LastStep = defineTag('LastStep')

/** Saved worlds of earlier versions have it. No system reads or writes it: `isStepHeld` derives it. */
export const StepHeld = defineTag('StepHeld')

/** A summary of the agent's conversation is being written, which its next step waits for. */
export const Summarizing = defineTag('Summarizing')

/** Whether the agent's model may be called is being asked of the agent that pays for it. */
export const AllowanceAwaited = defineTag('AllowanceAwaited')

/** What the agent's model costs is being asked, before its first call under a ceiling. */
export const RatesAwaited = defineTag('RatesAwaited')

/** Set by programs: the agent begins no step; what is under way finishes, and messages wait. */
export const Paused = defineTag('Paused')

/** A user stopped the step that was under way: the turn stays open, and goes on with the next message. */
export const StepStopped = defineTag('StepStopped')

/** The agent has ended for good: it begins no step and refuses messages. Other agents of its world go on. */
export const Terminal = defineTag('Terminal')
