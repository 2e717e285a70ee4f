// The exports a first program needs. A new export here becomes public API: named exports only, each with its contract in TSDoc.
export { Agent } from './agent/agent.ts'
export type { AgentOptions, PromptOptions } from './agent/agent-options.ts'
export { parseOutput } from './agent/parse-output.ts'
export { resumeAgent } from './agent/resume-agent.ts'
export {
  AgentBusyError,
  ConfigError,
  CursorExpiredError,
  type MisuseCode,
  PhiError,
  ProviderError,
  type ProviderErrorCode,
  ToolError,
  type ToolErrorCode,
} from './contract/errors.ts'
export type { JsonObject, JsonSchema, JsonValue } from './contract/json.ts'
export type { Citation, Content, FileContent, ImageContent, ServiceToolContent } from './contract/message/content.ts'
export {
  type AgentMessage,
  type AssistantMessage,
  type Message,
  type PromptInput,
  type StopReason,
  type ToolResultMessage,
  textOf,
  toolCallsOf,
  type UserMessage,
  userMessage,
} from './contract/message/message.ts'
export type { ModelConfig } from './contract/model/model-config.ts'
export { type RequestSettings, type ThinkingLevel, type ToolChoice, thinkingLevels } from './contract/model/request-settings.ts'
export { type CostConfig, estimatedCost, type Usage } from './contract/model/usage.ts'
export type { AgentEvent, EventOf } from './contract/run/event.ts'
export type { PendingApproval, PendingClientCall, PendingInput, RunStatus } from './contract/run/run-facts.ts'
export type { ExecutionLimits, RetryConfig } from './contract/run/settings.ts'
export type { ToolResult } from './contract/tool/tool-result.ts'
export { memorySessionStore } from './session/log/memory-store.ts'
export { defineTool } from './tools/define-tool.ts'
export { fileContent, imageContent } from './tools/media-content.ts'
export type { Logger } from './types/logger.ts'
export { type ApiKey, type CredentialProvider, type Model, staticCredential } from './types/model/model.ts'
export type { InferData } from './types/run/data.ts'
export type { InputAnswer } from './types/run/question.ts'
export { type AgentRun, type Receipt, type ReceiptStatus, RunError, type RunResult } from './types/run/run.ts'
export type { SessionStore } from './types/session/session-store.ts'
export type { StandardSchema } from './types/standard-schema.ts'
export type { AgentTool, ToolContext } from './types/tool/tool.ts'
export type { InferTools } from './types/tool/typed-tool.ts'
