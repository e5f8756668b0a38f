import { useEffect, useRef } from 'preact/hooks'
import { Bar } from './bar.tsx'
import { address, go, hrefOf } from './data/address.ts'
import { recordOf } from './data/session-records.ts'
import { isBusy, link, moment, problem, source, worlds } from './data/state.ts'
import { CopyBar } from './parts/copy-bar.tsx'
import { Empty, Loading, ProblemNotice } from './parts/notices.tsx'
import { keyPressed } from './keys.ts'
import { Scrubber } from './scrubber.tsx'
import { views } from './views/index.ts'

/** The page: a bar above all, the views at the side, one of them open. */
export function Shell() {
  useEffect(() => {
    addEventListener('keydown', keyPressed)
    return () => removeEventListener('keydown', keyPressed)
  }, [])
  const info = source.value
  const menu = useRef<HTMLElement>(null)
  const { view } = address.value
  useEffect(() => {
    menu.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [view, info])
  const { world } = address.value
  const title = world === undefined ? undefined : (recordOf(world)?.category ?? world)
  useEffect(() => {
    document.title = title === undefined ? 'Entia' : `${title} · Entia`
  }, [title])
  if (info === undefined) {
    return (
      <main class="alone">
        {problem.value === undefined ? <Loading what="Opening" /> : <ProblemNotice problem={problem.value} />}
      </main>
    )
  }
  const there = views.filter(({ isFor }) => isFor?.(info) !== false)
  const shown = there.find(({ id }) => id === address.value.view) ?? there[0]
  const Shown = shown?.component
  return (
    <div class="page" data-busy={isBusy.value}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the view
      </a>
      <Bar />
      <Scrubber />
      <nav ref={menu} class="views" aria-label="Views">
        {there.map(({ count, icon, id, key, title: name }) => (
          <a
            key={id}
            href={hrefOf({ view: id, q: undefined })}
            aria-current={id === shown?.id ? 'page' : undefined}
            title={`${name} (${key})`}
            onClick={(event) => {
              event.preventDefault()
              go({ view: id, q: undefined })
            }}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d={icon} />
            </svg>
            <span>{name}</span>
            {(count?.() ?? 0) > 0 ? (
              <b data-state={id === 'laws' ? 'failed' : undefined}>{count?.()}</b>
            ) : (
              <kbd aria-hidden="true">{key}</kbd>
            )}
          </a>
        ))}
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        <Lost />
        <CopyBar />
        {problem.value !== undefined && <ProblemNotice problem={problem.value} />}
        {Shown === undefined ? (
          <Empty title="There is no such view" />
        ) : shown?.isOfWorld !== true || moment.value !== undefined ? (
          <Shown />
        ) : worlds.value.size === 0 ? (
          <Empty title="No world yet">A world appears here with its first tick.</Empty>
        ) : (
          problem.value === undefined && <Loading what="Reading the world" />
        )}
      </main>
    </div>
  )
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function Lost() {
  if (link.value !== 'lost') return null
  return (
    <div class="lost" role="status">
      <span class="spinner" aria-hidden="true" />
      The connection is cut. What is shown stays; the page catches up by itself when the program answers again.
    </div>
  )
}
