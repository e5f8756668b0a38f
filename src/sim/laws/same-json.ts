import type { Json } from '../../base/json.ts'

/** Deep equality; a key with value `undefined` equals an absent one. */
export function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) return sameLists(one as readonly Json[], other as readonly Json[])
  const mine = one as Readonly<Record<string, Json | undefined>>
  const theirs = other as Readonly<Record<string, Json | undefined>>
  for (const key in mine) if (!sameJson(mine[key], theirs[key])) return false
  for (const key in theirs) if (mine[key] === undefined && theirs[key] !== undefined) return false
  return true
}

function sameLists(one: readonly Json[], other: readonly Json[]): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
  return one.every((item, index) => sameJson(item, other[index]))
}
