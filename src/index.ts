// Any new export here becomes public API: named exports only, each with its contract in TSDoc.
export { Agent } from './agent/agent.ts'
export type { AgentOptions, CompactOptions, PromptOptions } from './agent/agent-options.ts'
export { type Branch, type BranchSpec, type ExploreOptions, exploreBranches } from './agent/explore-branches.ts'
export { type ParseOutputOptions, parseOutput } from './agent/parse-output.ts'
export { type AgentProfile, applyProfile, profileDefaults } from './agent/profile.ts'
export { type ResumeOptions, resumeAgent } from './agent/resume-agent.ts'
export {
  agentPrompt,
  composeSystemPrompt,
  minimalPrompt,
  type PromptBlock,
  type SystemPromptStrategy,
} from './agent/system-prompt.ts'
export { escapeControls, escapeInvisible } from './base/text/escape-controls.ts'
export { createBudget } from './context/execution-budget.ts'
export { extractJson } from './context/extract-json.ts'
export { type ContextTranslation, defaultContextTranslation } from './context/translation.ts'
export type {
  CompactedSection,
  CompactionOverlay,
  ContextChange,
  ContextState,
  PruneRecord,
  RevertCategory,
  RevertPolicy,
  RevertRecord,
  TurnSpan,
} from './contract/context/context-change.ts'
export {
  AgentBusyError,
  ConfigError,
  type ConfigErrorOptions,
  CursorExpiredError,
  JournalError,
  type MisuseCode,
  PhiError,
  ProviderError,
  type ProviderErrorCode,
  SessionError,
  type SessionErrorCode,
  ToolError,
  type ToolErrorCode,
  WorkspaceError,
  type WorkspaceErrorCode,
} from './contract/errors.ts'
export type { JsonObject, JsonSchema, JsonValue } from './contract/json.ts'
export type { Content, ImageContent, ProviderState, TextContent, ThinkingContent, ToolCallContent } from './contract/message/content.ts'
export { parseMessages, serializeMessages } from './contract/message/history.ts'
export {
  type AgentMessage,
  type AssistantMessage,
  type ExtensionMessage,
  extensionMessage,
  isLlmMessage,
  type LlmMessage,
  type Message,
  type MessageEnvelope,
  type MessageInput,
  type PromptInput,
  type StopReason,
  type ToolResultMessage,
  type TurnId,
  textOf,
  toolCallsOf,
  type UserMessage,
  userMessage,
} from './contract/message/message.ts'
export type { BlockProvenance, ProvenanceRole } from './contract/message/provenance.ts'
export type { ApiProtocol, KnownApi, ModelCapabilities, ModelConfig, OpenAiCompat, ThinkingLevel } from './contract/model/model-config.ts'
export type { CacheStrategy, ResponseFormat, StreamDelta, ToolDefinition } from './contract/model/request.ts'
export { type CostConfig, cacheHitRate, combineUsage, emptyUsage, estimatedCost, type Usage } from './contract/model/usage.ts'
export type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  InputRequestedEvent,
  InputResolvedEvent,
  ProgressMessageEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from './contract/run/call-event.ts'
export type {
  AgentEndEvent,
  AgentEvent,
  AgentStartEvent,
  ChildEvent,
  CompactionEndedEvent,
  CompactionStartedEvent,
  InputRejectedEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ParallelLoopEndEvent,
  ParallelLoopStartEvent,
  ProviderRetryEvent,
  PrunAppliedEvent,
  RevertAppliedEvent,
  TurnEndEvent,
  TurnRequestEvent,
  TurnStartEvent,
} from './contract/run/event.ts'
export type { AnnotatedRequest, CapturedHttp } from './contract/run/request-capture.ts'
export type {
  ContinuationKind,
  EventBase,
  InputQuestion,
  LoopConfigSnapshot,
  PendingApproval,
  PendingInput,
  RunFailure,
  RunStatus,
  SubAgentRef,
  TurnTrigger,
} from './contract/run/run-facts.ts'
export type { ToolExecutionStrategy } from './contract/run/settings.ts'
export {
  defaultLimits,
  defaultRetry,
  type ExecutionLimits,
  type QueueMode,
  type ReachedLimit,
  type RetryConfig,
  type SharedLimits,
} from './contract/run/settings.ts'
export type { JournalEntry } from './contract/session/journal-entry.ts'
export type { NodeTag, TagKind } from './contract/session/node-tag.ts'
export type {
  BegunCall,
  ChildLoopRef,
  LoopEvent,
  LoopRecord,
  LoopStatus,
  ParallelGroupRecord,
  Session,
  SessionFormation,
  SessionScope,
  SpawnRef,
  Turn,
} from './contract/session/session.ts'
export type { LogDamage, SessionEntry, SessionRecord, UnknownEntry } from './contract/session/session-record.ts'
export type { AgentSnapshot } from './contract/session/snapshot.ts'
export { parseSnapshot } from './contract/session/snapshot.ts'
export type { ToolResult } from './contract/tool/tool-result.ts'
export { agentLoop, continueLoop } from './loop/agent-loop.ts'
export { Approvals, Inputs } from './loop/ask/desks.ts'
export type { AgentContext, LoopConfig, LoopOptions, MessageSupplier } from './loop/loop-config.ts'
export { memorySessionStore } from './session/log/memory-store.ts'
export { defineTool } from './tools/define-tool.ts'
export type {
  CompactionConfig,
  CompactionInput,
  CompactionScope,
  CompactionStrategy,
  ContextConfig,
  TokenCounter,
} from './types/context/compaction.ts'
export type { Logger } from './types/logger.ts'
export { type ApiKey, type CredentialProvider, staticCredential } from './types/model/credentials.ts'
export type { Model } from './types/model/model.ts'
export type {
  EncodedRequest,
  ResponseFormatInput,
  StreamEvent,
  StreamProvider,
  StreamRequest,
  StreamStart,
} from './types/model/provider.ts'
export type { Budget, BudgetUse, ReadableBudget } from './types/run/budget.ts'
export type { ChatAgent, ChatOptions } from './types/run/chat-agent.ts'
export type {
  BeforeToolInfo,
  CompactionFigures,
  HookDone,
  HookOrigin,
  HookRefusal,
  HookVerdict,
  LoopHooks,
  ReplacedArguments,
  ToolHookInfo,
  TurnHookInfo,
} from './types/run/hooks.ts'
export type { FilterVerdict, InputFilter } from './types/run/input-filter.ts'
export type { LoopObserver, LoopStep, LoopWatch, ModelAnswer, WatchedLoop } from './types/run/loop-watch.ts'
export type {
  ApprovalDecision,
  ApprovalDesk,
  ApprovalRef,
  ApprovalRequest,
  ApprovalRule,
  InputAnswer,
  InputDesk,
  InputRef,
  InputRequest,
  RunGuards,
} from './types/run/question.ts'
export { type AgentRun, type Receipt, type ReceiptStatus, RunError, type RunResult } from './types/run/run.ts'
export type { Journal, JournaledConversation, JournalRecord } from './types/session/journal.ts'
export type {
  CopiedSessionRecord,
  DroppedLine,
  LogClaim,
  LogDriver,
  LogLine,
  LogQuery,
  NewSessionRecord,
  ResumePoint,
  SalvagedSession,
  SessionDigest,
  SessionJournal,
  SessionJournalOptions,
  SessionListOptions,
  SessionPage,
  SessionStore,
  SessionSummary,
  SessionTail,
  SessionWriter,
  StorePromises,
} from './types/session/session-store.ts'
export type { SchemaIssue, SchemaOutput, SchemaResult, SchemaValidator, StandardSchema } from './types/standard-schema.ts'
export type { Skill, SkillProblem, SkillProblemCode, SkillSet } from './types/tool/skills.ts'
export type { AgentTool, ToolContext, ToolOutput, ToolParameters } from './types/tool/tool.ts'
export type { Workspace, WorkspaceEntry, WorkspaceStat } from './types/tool/workspace.ts'
export { memoryWorkspace } from './workspace/memory-workspace.ts'
