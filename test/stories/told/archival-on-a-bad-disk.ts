import { archivalStory } from './archival.ts'
import { everyFault } from './every-fault.ts'

/** The same, with a disk that refuses so many writes that some turns cannot be archived: nothing of them is left behind. */
export default { ...archivalStory(), faults: { ...everyFault, store: { fails: 0.22, full: 0.002, torn: 0.005 } } }
