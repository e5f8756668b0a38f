import { expect, it } from 'vitest'
import { simulate } from '../../../src/sim/index.ts'
import story from '../../stories/told/changed-world.ts'

it('a message is not lost that a Runner took under an id, could not commit, and was posted again', async () => {
  const { violation } = await simulate({ ...story, seed: 1992 })
  expect(violation).toBeUndefined()
})
