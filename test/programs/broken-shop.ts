import { hastyShop } from '../sim/hasty-shop.ts'

/** A shop that gets an order twice when a restart does it again: a story for the command line. */
const { seeds: _, ...story } = hastyShop()

export default story
