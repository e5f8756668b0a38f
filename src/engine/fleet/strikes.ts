import { letterLine } from '../../protocol/letter.ts'

/** A world whose holders died so often in a row is driven no more, until somebody releases it. */
export const maxStrikes = 5
/** From here on it may be what they died of, and not what was beside it. With none or one, who knows. */
export const suspectStrikes = 2

/** Why a session is driven no more, and the letter that tells its parent. */
export function givenUp(session: string, strikes: number): { readonly reason: string; readonly line: string } {
  const reason = `${strikes} workers in a row have died while they held this session, so it is driven no more.`
  return {
    reason,
    line: letterLine({ session, news: { kind: 'end', end: { ok: false, error: reason, kind: 'internal' } } }),
  }
}
