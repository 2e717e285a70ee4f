/// <reference types="vite/client" />
import { h, render } from 'preact'
import { expect, it } from 'vitest'
import { BrokenOff } from '../../playground/src/conversation/ending/broken-off.tsx'
import { ToolCard } from '../../playground/src/tools/tool-card.tsx'
import { emptyUsage } from '../../src/context.ts'
import type { AgentMessage } from '../../src/index.ts'
import { restoredState, type ToolView } from '../../src/store.ts'
import '../../playground/src/styles/base.css'
import '../../playground/src/styles/tokens.css'

const controls = /(?![\t\n])[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

it('shows characters that hide, reorder or move text in a tool card', () => {
  const hidden = 'safe\u202egnp.exe\u2066\u001b[2J\u0007\u200b\u{e0041}\u0085'
  const result = { content: [{ type: 'text' as const, text: hidden }] }
  const common = { toolCallId: 'c1', toolName: `read${hidden}`, args: { path: hidden, [hidden]: 1 }, reason: hidden, progress: hidden }
  const views = [
    { ...common, status: 'pendingApproval' },
    { ...common, status: 'running', partialResult: result },
    { ...common, status: 'done', result },
    { ...common, status: 'streaming', args: undefined },
  ] as unknown as ToolView[]
  for (const tool of views) {
    const place = document.createElement('div')
    render(
      h(ToolCard, {
        tool,
        argumentsText: JSON.stringify(common.args),
        data: [{ name: hidden, dataId: 'd', value: hidden, toolCallId: 'c1' }],
        asked: [],
        questions: [],
        child: undefined,
        decisions: undefined,
        onSelect: undefined,
      }),
      place,
    )
    expect([tool.status, controls.exec(place.textContent ?? '')]).toEqual([tool.status, null])
    expect(place.querySelector('.tool-name')?.textContent).toContain('read'.concat('safe\\u{202e}gnp.exe\\u{2066}'))
    expect(place.querySelector('.data-part')?.textContent).toContain('\\u{202e}')
    expect(place.querySelectorAll('pre')[0]?.textContent).toContain('\\u{202e}')
    for (const element of place.querySelectorAll('[title], [aria-label]')) {
      expect(controls.test(`${element.getAttribute('title')}${element.getAttribute('aria-label')}`)).toBe(false)
    }
  }
})

it('gives a placeholder the same contrast as other quiet text', (test) => {
  const field = document.body.appendChild(document.createElement('textarea'))
  const quiet = document.body.appendChild(document.createElement('p'))
  const probe = document.head.appendChild(document.createElement('style'))
  test.onTestFinished(() => [field, quiet, probe].forEach((element) => void element.remove()))
  field.placeholder = 'Write to the agent…'
  quiet.style.color = 'var(--soft)'
  const { color, opacity } = getComputedStyle(field, '::placeholder')
  probe.textContent = '::placeholder { color: rgb(1, 2, 3) !important }'
  // WebKit gives the style of the field in its place.
  if (getComputedStyle(field, '::placeholder').color !== 'rgb(1, 2, 3)') test.skip('This browser does not tell the style of placeholders.')
  expect([color, opacity]).toEqual([getComputedStyle(quiet).color, '1'])
})

it('offers to continue after a reload during several tool calls', () => {
  const call = (id: string) => ({ type: 'toolCall' as const, id, name: 'look', arguments: {} })
  const messages: AgentMessage[] = [
    { role: 'user', id: 'm1', content: [{ type: 'text', text: 'Look.' }], timestamp: 1 },
    {
      ...{ role: 'assistant', id: 'm2', content: [call('a'), call('b')], stopReason: 'toolUse', usage: emptyUsage() },
      ...{ model: 'm', provider: 'p', timestamp: 2 },
    },
    { role: 'toolResult', id: 'm3', toolCallId: 'b', toolName: 'look', content: [], isError: true, outcome: 'unknown', timestamp: 3 },
    // What a log ends with when a process ended before call `a` was answered, which may run again.
    { role: 'extension', id: 'm2.interrupted', kind: 'callsInterrupted', data: { toolCallIds: ['a'] } },
  ]
  const place = document.createElement('div')
  let resumed = 0
  render(h(BrokenOff, { state: restoredState(messages), onGoOn: () => resumed++ }), place)
  place.querySelector('button')?.click()
  expect([place.textContent, resumed]).toEqual([expect.stringContaining('The partial response was saved.'), 1])
})
