import type { RequestUsage } from '../../reading/wire.ts'
import { numberText } from '../data/words.ts'

const parts = [
  ['cacheRead', 'from the cache'],
  ['cacheWrite', 'written to it'],
  ['input', 'read anew'],
] as const

/** What a provider said of a prompt, as a bar. */
export function UsageBar({ usage }: { readonly usage: RequestUsage }) {
  const all = parts.reduce((sum, [name]) => sum + (usage[name] ?? 0), 0)
  const known = parts.filter(([name]) => usage[name] !== undefined)
  if (known.length === 0 && usage.output === undefined)
    return <p class="usage muted">The provider did not count tokens.</p>
  return (
    <div class="usage">
      <span class="usage-bar" aria-hidden="true">
        {all > 0 && known.map(([name]) => <i key={name} data-part={name} style={{ flexGrow: usage[name] ?? 0 }} />)}
      </span>
      <dl>
        {known.map(([name, words]) => (
          <div key={name} data-part={name}>
            <dt>{words}</dt>
            <dd>{numberText(usage[name] ?? 0)}</dd>
          </div>
        ))}
        {usage.output !== undefined && (
          <div data-part="output">
            <dt>written</dt>
            <dd>{numberText(usage.output)}</dd>
          </div>
        )}
      </dl>
    </div>
  )
}
