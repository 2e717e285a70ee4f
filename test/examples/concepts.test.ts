import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentEvent, type Model, textOf } from 'phi-core'
import { parallelLoop } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'
import { describe, expect, it } from 'vitest'
import { fromFile } from '../../examples/recipes/agents/agent-file.ts'
import { backgroundAgents } from '../../examples/recipes/agents/background-agents.ts'
import { firstJson } from '../../examples/recipes/agents/first-good-branch.ts'
import { judged } from '../../examples/recipes/agents/parallel-loops.ts'
import { profiled } from '../../examples/recipes/agents/profiles.ts'
import { throughLedger } from '../../examples/recipes/agents/rust-ledger.ts'
import { skilled } from '../../examples/recipes/agents/skills.ts'
import { delegated } from '../../examples/recipes/agents/sub-agents.ts'
import { longTalk } from '../../examples/recipes/context/compaction.ts'
import { withSummaries } from '../../examples/recipes/context/llm-summaries.ts'
import { longResult } from '../../examples/recipes/context/offload.ts'
import { pruned } from '../../examples/recipes/context/pruning.ts'
import { captured } from '../../examples/recipes/context/request-capture.ts'
import { wentBack } from '../../examples/recipes/context/revert.ts'
import { choose } from '../../examples/recipes/models/choices.ts'
import { ownFields } from '../../examples/recipes/models/escape-hatch.ts'
import { fallsBack } from '../../examples/recipes/models/fallback.ts'
import { takeTurns } from '../../examples/recipes/models/limiter.ts'
import { askedAtNight } from '../../examples/recipes/runs/approval-in-a-hook.ts'
import { sharedBudget } from '../../examples/recipes/runs/budgets.ts'
import { hooked } from '../../examples/recipes/runs/hooks.ts'
import { filtered } from '../../examples/recipes/runs/input-filters.ts'
import { guarded } from '../../examples/recipes/runs/output-guardrail.ts'
import { planThenWork } from '../../examples/recipes/runs/prepare-turn.ts'
import { watchedByScripts } from '../../examples/recipes/runs/script-hooks.ts'
import { whenItEnds } from '../../examples/recipes/runs/stop-conditions.ts'
import { tracedToConsole } from '../../examples/recipes/servers/tracing.ts'
import { tree } from '../../examples/recipes/sessions/event-recorder.ts'
import { handOver } from '../../examples/recipes/sessions/hand-over-session.ts'
import { recorded } from '../../examples/recipes/sessions/recorded-agent.ts'
import { replay } from '../../examples/recipes/sessions/replay.ts'
import { afterCrash } from '../../examples/recipes/sessions/resume-session.ts'
import { branched } from '../../examples/recipes/sessions/snapshots.ts'
import { paint } from '../../examples/recipes/tools/client-tools.ts'
import { searchWithProgress } from '../../examples/recipes/tools/data-for-pages.ts'
import { askWithNote } from '../../examples/recipes/tools/extension-messages.ts'
import { weather } from '../../examples/recipes/tools/json-schema-tool.ts'
import { petKeeper } from '../../examples/recipes/tools/openapi.ts'
import { planTogether } from '../../examples/recipes/tools/shared-state.ts'
import { blocksOf, pages } from '../docs/snippets.ts'

type Program = (write: (line: string) => void) => Promise<void>

/** The output that a page shows for an example: the block after it. Undefined if no page shows the example. */
function shown(source: string): string | undefined {
  for (const page of pages()) {
    const blocks = blocksOf(readFileSync(page, 'utf8'))
    const at = blocks.findIndex((block) => block.source === `examples/recipes/${source}`)
    if (at >= 0) return blocks[at + 1]?.code
  }
  return undefined
}

async function written(program: Program): Promise<string> {
  let text = ''
  await program((line) => {
    text += `${line}\n`
  })
  // The pages show one of the random marks.
  return text.replace(/<<[0-9a-z]{8}/g, '<<k3f9a2b1').replace(/[0-9a-z]{8}>>/g, 'k3f9a2b1>>')
}

/** The program in a directory of its own, which is gone afterwards. */
function inDirectory(program: (directory: string, write: (line: string) => void) => Promise<void>): Program {
  return async (write) => {
    const directory = mkdtempSync(join(tmpdir(), 'phi-example-'))
    await program(directory, write).finally(() => rmSync(directory, { recursive: true }))
  }
}

describe('documentation that shows program output', () => {
  it.each<[string, Program]>([
    ['agents/agent-file.ts', fromFile],
    ['agents/background-agents.ts', backgroundAgents],
    ['agents/parallel-loops.ts', judged],
    ['agents/profiles.ts', profiled],
    ['agents/rust-ledger.ts', inDirectory(throughLedger)],
    ['agents/skills.ts', skilled],
    ['agents/sub-agents.ts', delegated],
    ['context/compaction.ts', longTalk],
    ['context/offload.ts', longResult],
    ['context/pruning.ts', pruned],
    ['context/request-capture.ts', captured],
    ['context/revert.ts', wentBack],
    ['models/choices.ts', choose],
    ['models/escape-hatch.ts', ownFields],
    ['models/fallback.ts', fallsBack],
    ['models/limiter.ts', takeTurns],
    ['runs/budgets.ts', sharedBudget],
    ['runs/hooks.ts', hooked],
    ['runs/input-filters.ts', filtered],
    ['runs/output-guardrail.ts', guarded],
    ['runs/prepare-turn.ts', planThenWork],
    ['runs/script-hooks.ts', inDirectory(watchedByScripts)],
    ['runs/stop-conditions.ts', whenItEnds],
    ['servers/tracing.ts', tracedToConsole],
    ['sessions/event-recorder.ts', tree],
    ['sessions/hand-over-session.ts', handOver],
    ['sessions/recorded-agent.ts', recorded],
    ['sessions/replay.ts', replay],
    ['sessions/resume-session.ts', afterCrash],
    ['sessions/snapshots.ts', branched],
    ['tools/client-tools.ts', paint],
    ['tools/data-for-pages.ts', searchWithProgress],
    ['tools/extension-messages.ts', askWithNote],
    ['tools/openapi.ts', petKeeper],
    ['tools/shared-state.ts', planTogether],
  ])('matches the output of %s', async (source, program) => {
    const output = await written(program)
    expect(output).toBe(shown(source) ?? output)
    expect(output).not.toBe('')
  })
})

describe('other concept examples', () => {
  it('requests approval from a hook even for tools without needsApproval', async () => {
    const script = () => scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Fine.' }])
    const answersOf = async (isNight: boolean, decision: 'approve' | 'deny') => {
      const run = askedAtNight(script(), [weather], () => isNight).prompt('Weather?')
      run.subscribe((event) => (event.type === 'approvalRequested' ? run[decision](event) : undefined))
      const { messages } = await run.result
      return messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    }
    expect(await answersOf(false, 'deny')).toEqual(['Oslo: rain for 1 day(s)'])
    expect(await answersOf(true, 'approve')).toEqual(['Oslo: rain for 1 day(s)'])
    expect(await answersOf(true, 'deny')).toEqual(['The user denied this tool call'])
  })

  it('writes summaries with a smaller model', async () => {
    const smaller = scripted([{ text: 'We spoke about bees.' }])
    const model = scripted([...Array.from({ length: 14 }, () => ({ text: 'Bees. '.repeat(100) })), { text: 'Done.' }])
    const agent = withSummaries(model, smaller)
    for (let at = 0; at < 14; at += 1) await agent.prompt('And bees?').result
    expect(await agent.compact().result).toMatchObject({ status: 'completed' })
    await agent.prompt('And now?').result
    expect(JSON.stringify(model.provider.requests.at(-1)?.messages)).toContain('[Summary] We spoke about bees.')
    expect(JSON.stringify(smaller.provider.requests[0]?.messages)).toContain('Keep every file name and every decision.')
  })

  it('selects the first branch that returns JSON', async () => {
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
