import { describe, expect, it } from 'vitest'
import { axisText } from '../../../src/inspector/page/data/timeline-range.ts'

describe('an instant of the axis', () => {
  it('is as exact as its neighbours need it, in hours too', () => {
    const [second, hour] = [1_000, 3_600_000]
    expect(axisText(140, 20)).toBe('0.14 s')
    expect(axisText(61 * second + 250, 50)).toBe('1:01.25')
    expect(axisText(16_666 * hour + 40 * 60 * second + 200, 200)).toBe('16666:40:00.20')
    expect(axisText(2 * hour, hour)).toBe('2:00 h')
  })
})
