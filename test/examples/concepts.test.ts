import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentEvent, type Model, textOf } from 'phi-core'
import { parallelLoop } from 'phi-core/loop'
import { scripted } from 'phi-core/providers/scripted'
import { describe, expect, it } from 'vitest'
import { fromFile } from '../../examples/recipes/agent-file.ts'
import { askedAtNight } from '../../examples/recipes/approval-in-a-hook.ts'
import { besideTheRun } from '../../examples/recipes/background-agents.ts'
import { sharedBudget } from '../../examples/recipes/budgets.ts'
import { choose } from '../../examples/recipes/choices.ts'
import { paint } from '../../examples/recipes/client-tools.ts'
import { longTalk } from '../../examples/recipes/compaction.ts'
import { ownFields } from '../../examples/recipes/escape-hatch.ts'
import { tree } from '../../examples/recipes/event-recorder.ts'
import { fallsBack } from '../../examples/recipes/fallback.ts'
import { firstJson } from '../../examples/recipes/first-good-branch.ts'
import { handOver } from '../../examples/recipes/hand-over-session.ts'
import { hooked } from '../../examples/recipes/hooks.ts'
import { filtered } from '../../examples/recipes/input-filters.ts'
import { weather } from '../../examples/recipes/json-schema-tool.ts'
import { takeTurns } from '../../examples/recipes/limiter.ts'
import { withSummaries } from '../../examples/recipes/llm-summaries.ts'
import { longResult } from '../../examples/recipes/offload.ts'
import { petKeeper } from '../../examples/recipes/openapi.ts'
import { guarded } from '../../examples/recipes/output-guardrail.ts'
import { judged } from '../../examples/recipes/parallel-loops.ts'
import { planThenWork } from '../../examples/recipes/prepare-turn.ts'
import { profiled } from '../../examples/recipes/profiles.ts'
import { pruned } from '../../examples/recipes/pruning.ts'
import { recorded } from '../../examples/recipes/recorded-agent.ts'
import { replay } from '../../examples/recipes/replay.ts'
import { captured } from '../../examples/recipes/request-capture.ts'
import { afterCrash } from '../../examples/recipes/resume-session.ts'
import { wentBack } from '../../examples/recipes/revert.ts'
import { throughLedger } from '../../examples/recipes/rust-ledger.ts'
import { watchedByScripts } from '../../examples/recipes/script-hooks.ts'
import { planTogether } from '../../examples/recipes/shared-state.ts'
import { skilled } from '../../examples/recipes/skills.ts'
import { branched } from '../../examples/recipes/snapshots.ts'
import { whenItEnds } from '../../examples/recipes/stop-conditions.ts'
import { delegated } from '../../examples/recipes/sub-agents.ts'
import { tracedToConsole } from '../../examples/recipes/tracing.ts'
import { blocksOf } from '../docs/snippets.ts'

type Program = (write: (line: string) => void) => Promise<void>

/** What a page says that a program writes, its first one unless told: the block after it. */
function shown(page: string, source?: string): string {
  const blocks = blocksOf(readFileSync(`docs/concepts/${page}.md`, 'utf8'))
  const at = blocks.findIndex((block) => (source === undefined ? block.language === 'ts' : block.source === `examples/recipes/${source}`))
  return blocks[at + 1]?.code ?? `${source} is not on the page.`
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

describe('a page says what its program writes', () => {
  it.each([
    ['configuration', fromFile],
    ['hooks', hooked],
    ['openapi', petKeeper],
    ['input-filters', filtered],
    ['budgets', sharedBudget],
    ['context-and-compaction', longTalk],
    ['pruning', pruned],
    ['revert', wentBack],
    ['request-capture', captured],
    ['sub-agents', delegated],
    ['background-agents', besideTheRun],
    ['stop-conditions', whenItEnds],
    ['tracing', tracedToConsole],
    ['parallel-loops', judged],
    ['continuations-and-snapshots', branched],
    ['profiles-and-prompts', profiled],
    ['skills', skilled],
    ['sessions', recorded],
    ['client-tools', paint],
    ['shared-state', planTogether],
    ['choices', choose],
    ['session-tree', tree],
  ])('%s', async (page, program) => expect(await written(program)).toBe(shown(page)))

  it.each<[string, string, Program]>([
    ['request-settings', 'escape-hatch.ts', ownFields],
    ['stop-conditions', 'prepare-turn.ts', planThenWork],
    ['stop-conditions', 'output-guardrail.ts', guarded],
    ['models-of-models', 'fallback.ts', fallsBack],
    ['models-of-models', 'limiter.ts', takeTurns],
    ['tool-search', 'offload.ts', longResult],
    ['sessions', 'resume-session.ts', afterCrash],
    ['sessions', 'replay.ts', replay],
    ['sessions', 'hand-over-session.ts', handOver],
    ['session-tree', 'rust-ledger.ts', inDirectory(throughLedger)],
    ['script-hooks', 'script-hooks.ts', inDirectory(watchedByScripts)],
  ])('%s, %s', async (page, source, program) => expect(await written(program)).toBe(shown(page, source)))
})

describe('the other programs', () => {
  it('a hook asks a person, also about tools that do not', async () => {
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
