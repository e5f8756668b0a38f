import type { PathStyle, PolicyConfig } from '../../protocol/policy.ts'
import { policyDefaults } from './call.ts'
import { credentialFolders, type OwnPlaces } from './credential-paths.ts'
import { absolute, type Base, segmentsOf } from './paths.ts'

/** Why a place is closed to a call that does not name it. */
export const closedKinds = ['credential', 'denied', 'personal'] as const
export type ClosedKind = (typeof closedKinds)[number]

/** A file or folder, absolute, with all that is below it. A name `*` stands for any one. */
export interface ClosedPlace {
  readonly kind: ClosedKind
  readonly path: string
}

/** What the lists of a policy close, as they are written: links in it are not resolved. */
export function closedBy(base: Base, config: PolicyConfig = {}, own: OwnPlaces = {}): readonly ClosedPlace[] {
  const { deniedPaths = [], personalPaths = policyDefaults.personalPaths } = config
  const placesOf = (kind: ClosedKind, paths: readonly string[]): readonly ClosedPlace[] =>
    paths.map((path) => ({ kind, path: absolute(path, base) }))
  return [
    ...placesOf('credential', credentialFolders(base.home, own)),
    ...placesOf('denied', deniedPaths),
    ...placesOf('personal', personalPaths),
  ]
}

/**
 * What a call comes upon that it was not judged by: it names a folder, and below that lie places which a policy would ask about or
 * deny. A tool that goes through the folder leaves them out.
 */
export class ClosedPlaces {
  readonly places: readonly ClosedPlace[]
  readonly #pathStyle: PathStyle
  readonly #known: readonly { readonly kind: ClosedKind; readonly names: readonly string[] }[]

  /** @param places links in them resolved */
  constructor(places: readonly ClosedPlace[], pathStyle: PathStyle) {
    this.places = places
    this.#pathStyle = pathStyle
    this.#known = places.map(({ kind, path }) => ({ kind, names: segmentsOf(path, pathStyle) }))
  }

  /** Why an absolute path without links is closed; `undefined`: it is not. */
  kindOf(path: string): ClosedKind | undefined {
    if (this.#known.length === 0) return undefined
    const names = segmentsOf(path, this.#pathStyle)
    return this.#known.find((place) => place.names.length <= names.length && agree(place.names, names))?.kind
  }

  /** Those below a folder that a call names. Of a kind in which it lies itself all are open: the call was judged by that. */
  below(folder: string): ClosedPlaces {
    const names = segmentsOf(folder, this.#pathStyle)
    const own = this.kindOf(folder)
    const isBelow = ({ kind, path }: ClosedPlace): boolean => {
      const place = segmentsOf(path, this.#pathStyle)
      return kind !== own && place.length > names.length && agree(place, names)
    }
    return new ClosedPlaces(this.places.filter(isBelow), this.#pathStyle)
  }
}

/** Are the names that both paths have the same? */
function agree(place: readonly string[], names: readonly string[]): boolean {
  return place.every((name, at) => name === '*' || names[at] === undefined || name === names[at])
}
