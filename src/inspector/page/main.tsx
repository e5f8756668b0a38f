import { render } from 'preact'
import { config } from 'zod'
import { begin, moment } from './data/state.ts'
import { SavedConnection, savedPage } from './data/saved-connection.ts'
import { Shell } from './shell.tsx'

// Its faster parsers are compiled at run time, which the page's own policy refuses.
config({ jitless: true })

// For the browser's console: the world that is shown, to be read.
Object.assign(globalThis, {
  entia: {
    get world() {
      return moment.value?.world
    },
    hash: () => moment.value?.world.hash(),
  },
})

// A page that carries a run asks no server.
const saved = savedPage()
void begin(saved === undefined ? undefined : new SavedConnection(saved))
render(<Shell />, document.getElementById('page') as HTMLElement)
