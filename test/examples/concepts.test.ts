import { readFileSync } from 'node:fs'
import { type AgentEvent, type Model, textOf } from 'phi-core'
import { parallelLoop } from 'phi-core/parallel'
import { scripted } from 'phi-core/providers/scripted'
import { describe, expect, it } from 'vitest'
import { askedAtNight } from '../../examples/recipes/approval-in-a-hook.ts'
import { sharedBudget } from '../../examples/recipes/budgets.ts'
import { longTalk } from '../../examples/recipes/compaction.ts'
import { firstJson } from '../../examples/recipes/first-good-branch.ts'
import { hooked } from '../../examples/recipes/hooks.ts'
import { filtered } from '../../examples/recipes/input-filters.ts'
import { weather } from '../../examples/recipes/json-schema-tool.ts'
import { withSummaries } from '../../examples/recipes/llm-summaries.ts'
import { judged } from '../../examples/recipes/parallel-loops.ts'
import { profiled } from '../../examples/recipes/profiles.ts'
import { pruned } from '../../examples/recipes/pruning.ts'
import { captured } from '../../examples/recipes/request-capture.ts'
import { wentBack } from '../../examples/recipes/revert.ts'
import { branched } from '../../examples/recipes/snapshots.ts'
import { delegated } from '../../examples/recipes/sub-agents.ts'
import { blocksOf } from '../docs/snippets.ts'

/** What a page says that its first program writes: the block after it. */
function shown(page: string): string {
  const blocks = blocksOf(readFileSync(`docs/concepts/${page}.md`, 'utf8'))
  return blocks[blocks.findIndex(({ language }) => language === 'ts') + 1]?.code ?? ''
}

describe('a page says what its program writes', () => {
  it.each([
    ['hooks', hooked],
    ['input-filters', filtered],
    ['budgets', sharedBudget],
    ['context-and-compaction', longTalk],
    ['pruning', pruned],
    ['revert', wentBack],
    ['request-capture', captured],
    ['sub-agents', delegated],
    ['parallel-loops', judged],
    ['continuations-and-snapshots', branched],
    ['profiles-and-prompts', profiled],
  ])('%s', async (page, program) => {
    let written = ''
    await program((line) => {
      written += `${line}\n`
    })
    expect(written).toBe(shown(page))
  })
})

describe('the other programs', () => {
  it('a hook asks a person, also about tools that do not', async () => {
    const script = () => scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Fine.' }])
    const answersOf = async (isNight: boolean, decision: 'approve' | 'deny') => {
      const run = askedAtNight(script(), [weather], () => isNight).prompt('Weather?')
      run.subscribe((event) => (event.type === 'approvalRequested' ? run[decision](event.toolCallId) : undefined))
      const { messages } = await run.result
      return messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    }
    expect(await answersOf(false, 'deny')).toEqual(['Oslo: rain for 1 day(s)'])
    expect(await answersOf(true, 'approve')).toEqual(['Oslo: rain for 1 day(s)'])
    expect(await answersOf(true, 'deny')).toEqual(['The user denied this tool call'])
  })

  it('a smaller model writes the summaries', async () => {
    const smaller = scripted([{ text: 'We spoke about bees.' }])
    const model = scripted([...Array.from({ length: 14 }, () => ({ text: 'Bees. '.repeat(100) })), { text: 'Done.' }])
    const agent = withSummaries(model, smaller)
    for (let at = 0; at < 14; at += 1) await agent.prompt('And bees?').result
    expect(await agent.compact().result).toMatchObject({ status: 'completed' })
    await agent.prompt('And now?').result
    expect(JSON.stringify(model.provider.requests.at(-1)?.messages)).toContain('[Summary] We spoke about bees.')
    expect(JSON.stringify(smaller.provider.requests[0]?.messages)).toContain('Keep every file name and every decision.')
  })

  it('the first branch that answers with JSON wins', async () => {
    const models = [scripted([{ text: 'never' }], { gate: () => new Promise(() => undefined) }), scripted([{ text: '{"a":1}' }])]
    const types: string[] = []
    const emit = (event: AgentEvent) => types.push(event.type)
    const race = (configs: { model: Model }[]) =>
      parallelLoop({
        prompt: 'JSON?',
        context: { systemPrompt: '', messages: [], tools: [] },
        configs,
        strategy: firstJson,
        emit,
        signal: new AbortController().signal,
      })
    expect(await race(models.map((model) => ({ model })))).toMatchObject({
      selectedIndex: 1,
      outcomes: [{ result: { status: 'aborted' } }],
    })
    expect(await race([{ model: scripted([{ text: 'no' }]) }])).toMatchObject({ selectedIndex: 0 })
    expect(types.at(-1)).toBe('parallelLoopEnd')
  })
})
