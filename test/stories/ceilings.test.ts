import { overSeeds } from './over-seeds.ts'
import story from './told/ceilings.ts'

overSeeds('a lead under ceilings whose sessions spend as well', story)
