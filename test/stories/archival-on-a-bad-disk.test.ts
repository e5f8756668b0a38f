import { overSeeds } from './over-seeds.ts'
import story from './told/archival-on-a-bad-disk.ts'

overSeeds('an agent whose turns are archived, on a bad disk', story)
