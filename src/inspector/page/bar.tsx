import { useRef, useState } from 'preact/hooks'
import { go } from './data/address.ts'
import { isPlaying, togglePlay } from './data/play.ts'
import { ended, isLive, link, moment, source } from './data/state.ts'
import { dateText, durationText, numberText } from './data/words.ts'
import { step } from './keys.ts'
import { Acting } from './parts/acting.tsx'
import { WorldPicker } from './world-picker.tsx'

/** The bar above all: which world, at which tick. */
export function Bar() {
  const shown = moment.value
  const isRun = source.value?.kind === 'run'
  return (
    <header class="bar">
      <span class="brand" title={`Entia ${source.value?.version ?? ''}`}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="2.2" />
          <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.4" stroke-dasharray="9 4" />
        </svg>
      </span>
      <WorldPicker />
      <div class="steps" role="group" aria-label="Ticks">
        <Icon label="Step back" hint="←" path="M10 3.5 5.5 8l4.5 4.5" onClick={() => step(-1)} />
        <Icon
          label={isPlaying.value ? 'Stop playing' : 'Play'}
          hint="Space"
          path={isPlaying.value ? 'M5.5 4v8M10.5 4v8' : 'M5 3.2v9.6L12.6 8z'}
          onClick={togglePlay}
        />
        <Icon label="Step on" hint="→" path="M6 3.5 10.5 8 6 12.5" onClick={() => step(1)} />
        <TickInput />
      </div>
      {shown !== undefined && (
        <dl class="times">
          <div>
            <dt>World time</dt>
            <dd>{durationText(shown.world.nowMs)}</dd>
          </div>
          {shown.world.dateMs > 1e11 && (
            <div class="is-extra">
              <dt>Date</dt>
              <dd>{dateText(shown.world.dateMs)}</dd>
            </div>
          )}
        </dl>
      )}
      <span class="space" />
      {ended.value !== undefined && (
        <span class="badge" data-state={ended.value.isFailure ? 'failed' : 'done'} title={ended.value.message}>
          <i aria-hidden="true" />
          {ended.value.isFailure ? 'failed' : 'ended'}
        </span>
      )}
      <Acting />
      {!isRun && (
        <button
          type="button"
          class="live"
          aria-pressed={isLive.value}
          data-link={link.value}
          title="Follow the newest tick (l)"
          onClick={() => go({ tick: isLive.value ? (shown?.tick ?? 0) : 'live' })}
        >
          <i aria-hidden="true" />
          {link.value === 'lost' ? 'cut' : 'live'}
        </button>
      )}
      <Theme />
    </header>
  )
}

function TickInput() {
  const shown = moment.value
  /** What is being typed: ticks that come meanwhile leave it alone. */
  const [text, setText] = useState<string | undefined>(undefined)
  const tick = shown?.tick
  return (
    <label class="tick">
      <span class="hidden">Tick</span>
      <input
        inputMode="numeric"
        value={text ?? (tick === undefined ? '' : String(tick))}
        size={Math.max(4, String(shown?.newest ?? 0).length)}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onBlur={() => setText(undefined)}
        onKeyDown={({ currentTarget, key }) => {
          if (key === 'Escape') currentTarget.blur()
          if (key !== 'Enter') return
          // Digits in groups as they are written elsewhere; anything else is no tick, and the page stays where it is.
          const digits = currentTarget.value.replaceAll(/[\s,._]/g, '')
          const wanted = Number(digits)
          if (/^\d+$/.test(digits)) go({ tick: Math.min(wanted, shown?.newest ?? wanted) })
          currentTarget.blur()
        }}
      />
      <span class="of">of {numberText(shown?.newest ?? 0)}</span>
    </label>
  )
}

interface IconProps {
  readonly label: string
  readonly hint: string
  readonly path: string
  readonly onClick: () => void
}

function Icon({ hint, label, onClick, path }: IconProps) {
  return (
    <button type="button" class="icon" aria-label={label} title={`${label} (${hint})`} onClick={onClick}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  )
}

/** As the system has it, unless a person says otherwise; for this page only. */
function Theme() {
  const first = useRef(matchMedia('(prefers-color-scheme: dark)').matches)
  const [isDark, setDark] = useState(first.current)
  const turn = () => {
    setDark(!isDark)
    document.documentElement.dataset['theme'] = isDark ? 'light' : 'dark'
  }
  const path = isDark
    ? 'M8 3V1.5M8 14.5V13M3 8H1.5M14.5 8H13M4.5 4.5l-1-1M12.5 12.5l-1-1M4.5 11.5l-1 1M12.5 3.5l-1 1M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z'
    : 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z'
  return (
    <button
      type="button"
      class="icon"
      aria-label={isDark ? 'Light colours' : 'Dark colours'}
      title="Colours"
      onClick={turn}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  )
}
