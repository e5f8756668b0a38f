import { useState } from 'preact/hooks'
import { address } from '../data/address.ts'
import type { RunPlace } from '../data/compared-run.ts'
import { worlds } from '../data/state.ts'
import { Comparison } from './comparison.tsx'
import { Empty } from './notices.tsx'

/** Worlds that a person can choose among; who has more names them in the address. */
const maxListed = 1_000

/** Puts the shown world beside another one, or beside one of a saved run. */
export function ComparisonChoice() {
  const { world = '' } = address.value
  const [other, setOther] = useState<RunPlace | undefined>(undefined)
  const others = [...worlds.value.keys()].filter((name) => name !== world)
  return (
    <>
      <div class="tools compared">
        <h2 class="clip">{world === '' ? 'No world' : world}</h2>
        <label>
          <span class="muted">beside</span>{' '}
          <select
            aria-label="Another world"
            value={other?.file === undefined ? (other?.world ?? '') : ''}
            disabled={others.length === 0}
            onChange={({ currentTarget: { value } }) => value !== '' && setOther({ world: value })}
          >
            <option value="">{others.length === 0 ? 'no other world' : 'another world …'}</option>
            {others.slice(0, maxListed).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="saved-file">
          <span class="muted">or</span>{' '}
          <span class="button">
            {other?.file?.name ?? 'a saved run …'}
            <input
              type="file"
              aria-label="A saved run"
              onChange={({ currentTarget: { files } }) => {
                const file = files?.[0]
                if (file !== undefined) setOther({ world, file })
              }}
            />
          </span>
        </label>
      </div>
      {other === undefined ? (
        <Empty title="Nothing is compared yet">
          Choose a copy of this world, or a file of entia sim --save: the first tick that differs is shown, both sides
          of it.
        </Empty>
      ) : (
        <Comparison one={{ world }} other={other.file === undefined ? other : { world, file: other.file }} />
      )}
    </>
  )
}
