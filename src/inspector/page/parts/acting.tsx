import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { agentsOf, read } from '../../reading/raw-view.ts'
import type { Action } from '../../reading/wire.ts'
import { type Moment, moment, source, worlds } from '../data/state.ts'
import { CopyDialog } from './copy-dialog.tsx'
import { Dialog } from './dialog.tsx'
import { act } from './do-action.ts'

type Opened = 'post' | 'cancel' | 'cancel-session' | 'ceiling' | 'copy'

/** What a person can do with the world that is shown. Absent where nothing can be done. */
export function Acting() {
  const [isOpen, setOpen] = useState(false)
  const [opened, setOpened] = useState<Opened | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const can = source.value?.can
  const shown = moment.value
  useEffect(() => {
    if (!isOpen) return undefined
    const leave = ({ target }: Event) => {
      if (target instanceof Node && box.current?.contains(target) !== true) setOpen(false)
    }
    addEventListener('pointerdown', leave)
    return () => removeEventListener('pointerdown', leave)
  }, [isOpen])
  if (shown === undefined || can === undefined || (!can.act && !can.fork)) return null
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const choose = (what: Opened) => {
    setOpen(false)
    setOpened(what)
  }
  const done = () => {
    setOpened(undefined)
    button.current?.focus()
  }
  return (
    <div class="acting" ref={box}>
      <button
        ref={button}
        type="button"
        class="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Act
      </button>
      {isOpen && <Menu shown={shown} choose={choose} close={close} />}
      {opened === 'copy' && <CopyDialog shown={shown} onClose={done} />}
      {opened !== undefined && opened !== 'copy' && <ActDialog what={opened} shown={shown} onClose={done} />}
    </div>
  )
}

interface MenuProps {
  readonly shown: Moment
  readonly choose: (what: Opened) => void
  readonly close: () => void
}

function Menu({ choose, close, shown }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => menu.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus(), [])
  const entry = worlds.value.get(shown.world.name)
  const isDriven = entry?.isDriven === true
  const mayAct = isDriven && (source.value?.can.act === true || entry?.copyOf !== undefined)
  const isSession = entry?.root !== undefined
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return close()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const items = [...(menu.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const at = items.findIndex((item) => item === document.activeElement)
    items[(at + step + items.length) % items.length]?.focus()
  }
  return (
    <div class="popover menu" role="menu" aria-label="Act" ref={menu} onKeyDown={move}>
      {source.value?.can.fork === true && (
        <Item onClick={() => choose('copy')}>
          Fork from tick {shown.tick}…<small>A copy goes its own way. This world stays as it is.</small>
        </Item>
      )}
      {mayAct && <Item onClick={() => choose('post')}>Post a message…</Item>}
      {mayAct && <Pausing shown={shown} close={close} />}
      {mayAct && <Item onClick={() => choose('ceiling')}>Reset a ceiling…</Item>}
      {mayAct && (
        <Item isDanger onClick={() => choose('cancel')}>
          Cancel an agent’s turn…
        </Item>
      )}
      {mayAct && isSession && (
        <Item isDanger onClick={() => choose('cancel-session')}>
          Cancel this session…
        </Item>
      )}
      {!mayAct && (
        <p class="muted">
          {isDriven ? 'Actions are off here.' : 'No one drives this world here now, so that it takes no messages.'}
        </p>
      )}
    </div>
  )
}

function Item(props: {
  readonly children: ComponentChildren
  readonly isDanger?: boolean
  readonly onClick: () => void
}) {
  return (
    <button type="button" role="menuitem" class={props.isDanger === true ? 'bad' : ''} onClick={props.onClick}>
      {props.children}
    </button>
  )
}

/** Each agent is paused, or goes on, at once: it can be taken back. */
function Pausing({ close, shown: { world } }: Pick<MenuProps, 'shown' | 'close'>) {
  const agents = agentsOf(world)
  return agents.map((agent) => {
    const isPaused = world.value(agent, 'Paused') === true
    const whose = agents.length > 1 ? ` agent ${agent}` : ''
    const send = () => {
      close()
      void act({ do: isPaused ? 'go-on' : 'pause', world: world.name, agent })
    }
    return (
      <Item key={agent} onClick={send}>
        {isPaused ? `Let${whose === '' ? ' it' : whose} go on` : `Pause${whose}`}
      </Item>
    )
  })
}

const titles: Readonly<Record<Exclude<Opened, 'copy'>, string>> = {
  post: 'Post a message',
  cancel: 'Cancel a turn',
  'cancel-session': 'Cancel this session',
  ceiling: 'Reset a ceiling',
}

function ActDialog({
  onClose,
  shown,
  what,
}: {
  readonly onClose: () => void
  readonly shown: Moment
  readonly what: Exclude<Opened, 'copy'>
}) {
  const { world } = shown
  const agents = agentsOf(world)
  const [agent, setAgent] = useState(agents[0] ?? 0)
  const [text, setText] = useState('')
  const add = Number(text)
  const action = ((): Action => {
    const at = { world: world.name, agent }
    const reason = text.trim() === '' ? undefined : text
    if (what === 'post') return { do: 'post', ...at, text }
    if (what === 'cancel') return { do: 'cancel', ...at, reason }
    if (what === 'cancel-session') return { do: 'cancel-session', world: world.name }
    return { do: 'reset-ceiling', ...at, addSessionUsd: text === '' ? undefined : add }
  })()
  const isWrong = (what === 'post' && text.trim() === '') || (what === 'ceiling' && text !== '' && !(add > 0))
  return (
    <Dialog
      title={titles[what]}
      action={action}
      isWrong={isWrong}
      onClose={onClose}
      isDanger={what.startsWith('cancel')}
    >
      {what !== 'cancel-session' && agents.length > 1 && (
        <label>
          Agent
          <select value={agent} onChange={({ currentTarget }) => setAgent(Number(currentTarget.value))}>
            {agents.map((one) => (
              <option key={one} value={one}>
                #{one} · {read(world, one, 'Llm')?.model}
              </option>
            ))}
          </select>
        </label>
      )}
      {what.startsWith('cancel') && (
        <p>
          What {what === 'cancel' ? 'the agent' : 'the session'} is doing is ended, with all that it has begun. That
          cannot be taken back.
        </p>
      )}
      {what !== 'cancel-session' && (
        <label>
          {what === 'ceiling' ? 'Raise it by (US dollars); empty: not at all' : what === 'post' ? 'Message' : 'Reason'}
          {what === 'ceiling' ? (
            <input inputMode="decimal" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
          ) : (
            <textarea rows={4} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
          )}
        </label>
      )}
    </Dialog>
  )
}
