import type { ClientSettings } from '../../../src/client/index.ts'
import type { AgentRun } from '../../../src/index.ts'
import type { CallerRequest, ReadRequest } from '../../../src/ui/openai/index.ts'
import { type ClientSettingName, settingsFrom } from '../routes/client-settings.ts'
import { refuseCaller } from './openai-error.ts'

/** What was read; refuses what could not be. */
export function accepted<T>({ value, fault }: ReadRequest<T>): T {
  return value ?? refuseCaller(fault ?? { message: 'The request cannot be read.' })
}

/** The settings that a caller asks for. Refuses by name what is not in `allowed`, and what cannot work. */
export function callerSettings({ settings }: CallerRequest, allowed: readonly ClientSettingName[]): ClientSettings {
  // Who asks is told to a service where the server lets callers say it, and else to nobody.
  const refused = settings.find(({ name }) => !allowed.includes(name))
  if (refused !== undefined) {
    const { param, name } = refused
    const message = `Unsupported parameter: '${param}' is not for callers to set. The server can allow it: clientSettings: ['${name}'].`
    refuseCaller({ message, param, code: 'unsupported_parameter' })
  }
  return settingsFrom(Object.fromEntries(settings.map(({ name, value }) => [name, value])), allowed)
}

/** Why a call of the agent's own was not run. The model is told. */
const nobodyToAsk = 'it needs the approval of a person, and nobody can be asked here'
const noPage = 'No page is there that could run it.'

/**
 * Answers for the caller what it has no words for: calls of the agent's own that need approval are denied, unless `canApprove`; questions of tools are cancelled, and
 * pages of sub-agents are not there. Calls that the caller is to run wait.
 */
export function answerForCaller(run: AgentRun, { canApprove }: { canApprove: boolean }): void {
  for (const request of run.pendingInputs()) run.answer(request, { action: 'cancel' })
  if (!canApprove) for (const request of run.pendingApprovals()) run.deny(request, nobodyToAsk)
  run.subscribe((event) => {
    if (event.type === 'inputRequested') run.answer(event, { action: 'cancel' })
    else if (event.type === 'approvalRequested' && !canApprove) run.deny(event, nobodyToAsk)
    else if (event.type === 'clientCallRequested' && event.subAgent !== undefined) {
      // It may have been withdrawn by then.
      void run.answerCall(event, { error: noPage }).catch(() => undefined)
    }
  })
}
