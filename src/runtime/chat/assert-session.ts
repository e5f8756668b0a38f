import { objectWith, refuseMisfit } from '../../base/option-shapes.ts'

const wanted = objectWith('a chat session, as newSession() and sessionSetup() make', 'turn', 'start')

/** @throws `invalid-argument` for what is no chat session */
export function assertSession(call: string, session: unknown): void {
  refuseMisfit(call, 'session', session, wanted)
}
