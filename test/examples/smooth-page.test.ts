import { Agent } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { expect, it, vi } from 'vitest'
import { showSmoothly } from '../../examples/recipes/servers/smooth-page.ts'
import { patient } from '../support/patience.ts'

it('shows whole words, and all text at the end', async () => {
  const agent = new Agent({ model: scripted([{ text: ['Hello th', 'ere, wor', 'ld.'], delayMs: 50 }]) })
  const shown: string[] = []
  const stop = showSmoothly(agent, (text) => shown.push(text))
  await agent.prompt('Hi.').result
  await vi.waitFor(() => expect(shown.at(-1)).toBe('Hello there, world.'), patient)
  expect(shown.filter((text) => /[a-z]$/.test(text))).toEqual([])
  stop()
})
