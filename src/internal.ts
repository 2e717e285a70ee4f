/**
 * What the adapters of this package share with its core. No entry of the package: names here are no promise.
 *
 * @module
 */

export { raceAbort } from './base/abort.ts'
export { aLogger, someTools, storeWith } from './base/argument-checks.ts'
export { bytesOfBase64, toBase64 } from './base/base64.ts'
export { sha256Of } from './base/hash.ts'
export { isEventStream, isRedirect, namedPage, retryAfterIn } from './base/http-answer.ts'
export { isEqualJson, nameOfPart, parsedJson } from './base/json/json-value.ts'
export { mediaIn, withMedia } from './base/json/media-blocks.ts'
export { answersInstead } from './base/json/tool-output.ts'
export { logInfo, logWarning, withoutLikelySecrets } from './base/log-warning.ts'
export { isLoopbackHost, mayLeadTo } from './base/private-host.ts'
export { waitingApprovals, waitingClientCalls } from './base/questions.ts'
export { hasHalf, headOf, isHighSurrogate, percentEncoded, shortened, utf8In } from './base/text/characters.ts'
export { minSecret } from './base/text/redact.ts'
export { headerSecrets, withoutSecrets } from './base/text/secrets.ts'
export { retryDelayMs, startTimer, timerMs } from './base/timer.ts'
export type { ToolPlace } from './config/config-host.ts'
export type { McpServerSection } from './config/schema/sections.ts'
export { errorText } from './contract/errors.ts'
export { definedFields, fieldIn, isJsonObject, isObject, ownOf } from './contract/json.ts'
export { mediaName, wordsOf } from './contract/message/block-words.ts'
export { isMedia, type MediaContent } from './contract/message/content.ts'
export { clientBlock } from './contract/message/history.ts'
export { randomHex, toHex } from './contract/message/identity.ts'
export { baseType, defaultMaxMediaBytes, isHash, isTextType, mediaBytes, nameByType, typeByName } from './contract/message/media.ts'
export { callsToAnswer, isReport, lastSaidAt, shownContent } from './contract/message/message.ts'
export { clientSettingFields } from './contract/model/model-config.ts'
export { choiceFields, headerFields, settingsIn, thinkingLevel } from './contract/model/request-settings.ts'
export { costConfig, hasRates, usageBeyond } from './contract/model/usage.ts'
export { approvalEvents } from './contract/run/call-event.ts'
export { clientId } from './contract/run/run-facts.ts'
export { defaultRetry } from './contract/run/settings.ts'
export { sessionStatus } from './contract/session/session.ts'
export { type ForwardedCommand, forwardedCommand, type SessionCommand } from './contract/session/session-command.ts'
export { meant, nearest } from './contract/shape/nearest-name.ts'
export { checkOptions, fits } from './contract/shape/read.ts'
export {
  aFlag,
  aFunction,
  anything,
  aPositiveNumber,
  aText,
  closed,
  either,
  type Infer,
  json,
  kind,
  listOf,
  namesOf,
  type OptionTable,
  oneOf,
  options,
  recordOf,
  required,
  type Shape,
  texts,
  wholeFrom,
  withMethods,
} from './contract/shape/shape.ts'
export { isToolName } from './contract/tool/tool-result.ts'
export { ClientCalls, Inputs } from './loop/ask/pending-requests.ts'
export { toolList } from './loop/check-config.ts'
export { mcpErrorCode } from './mcp/mcp-error.ts'
export { serverSchema } from './mcp/tool-schema.ts'
export { isEntraToken } from './providers/azure/azure-url.ts'
export { bedrockAuthHeaders } from './providers/bedrock/sign.ts'
export { aTime, keyFault } from './providers/kit/provider-options.ts'
export { serviceAddresses } from './providers/kit/transport/endpoint.ts'
export { patienceOf, withoutOwnTimeouts } from './providers/kit/transport/patience.ts'
export { maxErrorBody } from './providers/kit/transport/send.ts'
export { ownServices, serviceNamed, splitModelName } from './providers/model-name.ts'
export { type UsageReader, usageReader } from './providers/usage-reader.ts'
export type { EventKeeping } from './session/journal/with-events.ts'
export { agentIdOf, isTitle, maxTitleChars } from './session/log/digest.ts'
export { digestOfLines } from './session/log/read-stored.ts'
export { decodeLine } from './session/log/record-codec.ts'
export { placeInScope } from './session/log/scoped-session-store.ts'
export { circleGuard, isAsked, pageOf } from './session/log/session-list.ts'
export { withNames } from './session/media/named.ts'
export type { RecordedInput } from './session/views/recorded.ts'
export { invalid as invalidState, readPatch } from './shared-state/apply-patch.ts'
export type { AwsEventDecoder } from './stream/aws-event-stream.ts'
export { plannedEdit } from './tools/files/edit-file.ts'
export type { ChatEncoderOptions } from './ui/openai/chat/chat-encoder.ts'
export type { ResponseEncoderOptions } from './ui/openai/responses/response-encoder.ts'
export type { CallerFault } from './ui/openai/shared/caller-fault.ts'
export type { CallerMessage, CallerRequest, InstructionsPlace } from './ui/openai/shared/caller-request.ts'
export type { CallerTool } from './ui/openai/shared/caller-tools.ts'
export type { RunFailed } from './ui/openai/shared/failure.ts'
export { asEmitted, isWithheld, type ShownEvents, streamHeaders } from './ui/shared/encoding.ts'
export type { WaitingForPerson } from './ui/shared/open-calls.ts'
export { maxIssues, resultOf, typeName } from './validation/format-issues.ts'
export { formatChecks } from './validation/formats.ts'
export { maxCheckSteps } from './validation/linear-pattern.ts'
export { toolJsonSchema } from './validation/tool-parameters.ts'
export { changed, notFound, rootStays, wrongKind } from './workspace/workspace-rules.ts'
