import type { SimulateOptions } from 'entia/sim'
import { overSeedsOfFleets } from './over-seeds.ts'
import { toldByFleets } from './told/every-fault.ts'

for (const story of toldByFleets) {
  const { default: told } = (await import(`./told/${story}.ts`)) as { readonly default: SimulateOptions }
  overSeedsOfFleets(`the story of ${story.replaceAll('-', ' ')}`, told)
}
