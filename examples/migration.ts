import { agent, defineComponent, memoryStore, Runner, scripted, standardSystems, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// An upgrade: a component has changed since the world was saved, and says how an old value becomes a new one.

const options = { models: { script: scripted(() => 'Hello.') }, store: memoryStore(), systems: standardSystems() }

// The first release.
const OldCustomer = defineComponent('Customer', z.strictObject({ name: z.string() }))
const world = new World({ name: 'shop', systems: standardSystems() })
world.spawn(...agent({ model: 'script/clerk', messages: 'Hello?' }), OldCustomer({ name: 'Ada Lovelace' }))
const first = new Runner(world, { models: options.models, store: options.store })
await first.start()
await first.idle()
await first.stop()

// The second one. `version` goes up with each change that makes old values wrong.
const Customer = defineComponent('Customer', z.strictObject({ first: z.string(), last: z.string() }), {
  version: 2,
  migrate(saved) {
    const [given = '', family = ''] = (saved as { readonly name: string }).name.split(' ')
    return { first: given, last: family }
  },
})
const second = await Runner.open({ ...options, name: 'shop', components: { ...components, Customer } })
await second.start()
for (const customer of second.world.query(Customer)) console.log(second.world.read(customer, Customer))
await second.stop()

// Without `migrate`, the world is not opened: nothing is dropped silently.
const Careless = defineComponent('Customer', z.strictObject({ id: z.int() }), { version: 3 })
await Runner.open({ ...options, name: 'shop', components: { ...components, Careless } }).catch((error) => {
  console.log(`${error.code}: ${error.message}`)
})

/*
Prints:
{ first: 'Ada', last: 'Lovelace' }
corrupt-snapshot: What is saved of world 'shop' holds component 'Customer' in version 2, and the component (version 3) has no 'migrate'. Define one.
*/
