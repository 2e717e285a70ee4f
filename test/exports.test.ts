import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { publicEntries } from './harness/public-entries.ts'
import { type Export, exportsOf } from './harness/source.ts'

/** Every public name. A name that is added here is a promise; a name that goes is a breaking change. */
const expected: Record<string, string> = {
  '.': `
    Inputs Agent AgentBusyError Approvals ConfigError CursorExpiredError JournalError PhiError ProviderError SessionError ToolError
    WorkspaceError agentLoop agentPrompt applyProfile cacheHitRate combineUsage composeSystemPrompt continueLoop
    createBudget
    defaultContextTranslation defaultLimits defaultRetry defineTool emptyUsage escapeControls escapeInvisible estimatedCost exploreBranches
    extensionMessage extractJson isLlmMessage memorySessionStore memoryWorkspace minimalPrompt parseMessages parseOutput
    parseSnapshot profileDefaults resumeAgent serializeMessages staticCredential textOf toolCallsOf userMessage
    RunError
    ApiKey CompactOptions MessageInput ReachedLimit SharedLimits ApprovalDesk ApprovalRef ApprovalRequest ApprovalRule BudgetUse HookOrigin ReadableBudget RunGuards
    SubAgentRef ToolOutput DroppedLine LogQuery SalvagedSession SessionDigest SessionListOptions SessionPage
    AgentContext AgentEndEvent AgentEvent AgentMessage AgentOptions AgentProfile BegunCall AgentRun AgentSnapshot AgentStartEvent
    AgentTool AnnotatedRequest ApiProtocol ApprovalDecision
    ApprovalRequestedEvent ApprovalResolvedEvent AssistantMessage
    BeforeToolInfo BlockProvenance Branch BranchSpec Budget CacheStrategy CapturedHttp ChatAgent ChatOptions ChildEvent ChildLoopRef
    CompactedSection CompactionConfig ConfigErrorOptions CompactionEndedEvent CompactionFigures CompactionInput CompactionOverlay
    CompactionScope CompactionStartedEvent CompactionStrategy Content ContextChange ContextConfig ContextState
    ContextTranslation ContinuationKind CostConfig CredentialProvider EncodedRequest EventBase ExecutionLimits
    ExploreOptions ExtensionMessage FilterVerdict HookDone HookRefusal HookVerdict ImageContent InputFilter InputRejectedEvent Journal
    JournalEntry JournalRecord JournaledConversation JsonObject JsonSchema JsonValue KnownApi LlmMessage LogClaim LogDamage LogDriver
    LogLine Logger LoopConfig LoopConfigSnapshot LoopEvent LoopHooks LoopObserver LoopOptions LoopRecord LoopStatus LoopStep LoopWatch ModelAnswer WatchedLoop Message
    MessageEndEvent MessageEnvelope MessageStartEvent MessageSupplier MessageUpdateEvent MisuseCode Model ModelCapabilities
    ModelConfig CopiedSessionRecord NewSessionRecord NodeTag OpenAiCompat ParallelGroupRecord ParallelLoopEndEvent ParallelLoopStartEvent
    InputAnswer InputDesk InputQuestion InputRef InputRequest InputRequestedEvent InputResolvedEvent PendingInput
    ParseOutputOptions PendingApproval ProgressMessageEvent PromptBlock PromptInput PromptOptions ProvenanceRole
    ProviderErrorCode ProviderRetryEvent ProviderState PrunAppliedEvent PruneRecord QueueMode Receipt ReceiptStatus
    ReplacedArguments ResponseFormat ResponseFormatInput ResumeOptions ResumePoint RetryConfig RevertAppliedEvent RevertCategory
    RevertPolicy RevertRecord RunFailure RunResult RunStatus SchemaIssue SchemaOutput SchemaResult SchemaValidator Session
    SessionEntry SessionErrorCode SessionFormation SessionJournal SessionJournalOptions SessionRecord SessionScope SessionStore SessionSummary
    SessionTail SessionWriter Skill SkillProblem SkillProblemCode SkillSet SpawnRef StandardSchema StopReason StorePromises StreamDelta StreamEvent StreamProvider
    StreamRequest StreamStart SystemPromptStrategy TagKind TextContent ThinkingContent ThinkingLevel TokenCounter
    ToolCallContent ToolContext ToolDefinition ToolErrorCode ToolExecutionEndEvent ToolExecutionStartEvent
    ToolExecutionStrategy ToolExecutionUpdateEvent ToolHookInfo ToolParameters ToolResult ToolResultMessage Turn
    TurnEndEvent TurnHookInfo TurnId TurnRequestEvent TurnSpan TurnStartEvent TurnTrigger UnknownEntry Usage UserMessage
    Workspace WorkspaceEntry WorkspaceErrorCode WorkspaceStat`,
  './provider-kit': `
    AssistantBuilder GrowingText HistoryMemory StreamRefusal classifyError createAwsEventDecoder createLineDecoder createModel
    createSseDecoder defaultPatience defineProvider headerCredential joinUrl legalIds mergeHeaders modelConfig normalise perObject retryDelayMs
    secretsIn sendStreaming toJson tokenCount withoutSecret
    AwsEventDecoder BlockKey CallIdRule Codec DecoderContext EncodedCall EventHeaders Exchange Failure HistoryWriter LineDecoder
    ModelDefaults NormaliseTarget Patience ProviderDefinition ProviderOptions Recovery SseDecoder SseDecoderOptions StreamDecoder
    TransportOptions WrittenHistory`,
  './providers/anthropic': `
    anthropic anthropicProvider
    AnthropicOptions AnthropicProviderOptions`,
  './providers/openai': `
    compatPresets defaultCompat local openAiCapabilities openAiProvider openai openaiCompatible openrouter
    Backend BackendName CompatibleOptions ProviderOptions`,
  './providers/openai-responses': `
    openAiResponsesProvider openaiResponses
    OpenAiResponsesOptions OpenAiResponsesProviderOptions ReasoningSummary`,
  './providers/azure': `
    azure azureProvider
    AzureAuth AzureOptions AzureProviderOptions`,
  './providers/google': `
    google googleProvider
    GoogleOptions GoogleProviderOptions`,
  './providers/vertex': `
    vertex vertexProvider
    VertexOptions VertexProviderOptions`,
  './providers/bedrock': `
    bedrock bedrockAuthHeaders bedrockProvider bedrockRegion
    AwsCredentialSource AwsCredentials BedrockOptions BedrockProviderOptions Signable`,
  './providers/registry': `
    ProviderRegistry protocolOf
    ProviderLoader RegistryModelOptions TransportOptions`,
  './providers/scripted': `
    ScriptedProvider exhaustedText scripted
    Script ScriptedFailure ScriptedModel ScriptedOptions ScriptedStep ScriptedToolCall`,
  './tools': `
    ToolRegistry defineTool editFileTool enforceableSchema enforcedFormats formatChecks joinPath linearPattern listFilesTool prunTools readFileTool
    resolvePath revertTool searchTool workspaceSearcher writeFileTool
    EditFileOptions EnforcedFormat LinearPattern ListFilesOptions ReadFileOptions SearchMatch SearchOutcome SearchQuery SearchToolOptions Searcher
    ToolOptions WriteFileOptions`,
  './openapi': `
    OpenApiError fetchOpenApiTools openApiTools readOpenApiTools
    FetchOpenApiOptions OpenApiCredential OpenApiErrorCode OpenApiSecret OpenApiToolsOptions OperationApproval OperationFilter
    OperationInfo ReadOpenApiOptions`,
  './skills': `
    SkillError loadSkillDir loadSkills parseSkill
    LoadSkillsOptions ParsedSkill SkillErrorCode`,
  './session': `
    ImportSessionOptions exportSession importSession scopedSessionStore
    assertSessionId checkSession childrenOf digestOfLines getLoop logSessionStore loopChainTo memoryDriver
    memorySessionStore openInTime pageOf parallelSiblings parseMessages parseSession parseSnapshot recordsOf replayEvents rootLoops
    salvageSession serializeMessages sessionJournal sessionOf snapshotOf totalUsage withEvents withTaskHooks
    CaughtUp DroppedLine EventKeeping LogClaim LogDriver LogLine LogQuery LoopPlace ReplayOptions
    ResumableSnapshot ResumePoint SalvagedSession SessionDigest SessionListOptions SessionPage SessionSummary
    TaskHooks UnfinishedCalls`,
  './context': `
    ContextTracker compactMessages defaultCompaction deriveView diffTurnRequests estimateTokens heuristicTokenCounter
    isContextOverflow llmCompaction messageTokens summaryMessage totalTokens turnsOf
    LlmCompactionOptions RequestBreak RequestDiff`,
  './config': `
    agentFromConfig agentsFromConfig configJsonSchema parseConfig parseConfigAuto substituteEnv trustRequests
    AgentConfig AgentInstanceSection AgentPlace AgentSection CallbacksSection CompactionInstanceSection CompactionSection CompactionSettings
    CompatSection ConfigFormat ConfigHost ConfigWarning ContextSection CostSection ExecutionSection HookScripts HooksSection McpServerConfig
    McpServerSection ModelSection ParsedConfig ProfileInstanceSection ProfileSection PromptSection PromptStrategySection
    ProviderInstanceSection ProviderSection SessionSection SkillsSection SubAgentSection ToolInstanceSection ToolPlace ToolsSection TrustRequest`,
  './options': `
    aFlag aFunction aNumber aNumberFromZero aPositiveNumber aSchema aSignal aText anObject anything checkOptions either json kind
    listOf oneOf options recordOf required texts wholeFrom withMethods
    OptionTable Shape`,
  './parallel': `
    contextOf elaborate judgeSystemPrompt llmJudge parallelLoop pickFirst snapshotOfContext tokenEfficient transparent
    Evaluation EvaluationInput EvaluationStrategy LlmJudgeOptions ParallelOptions ParallelOutcome ParallelResult`,
  './sub-agent': `
    SubAgentTool isSubAgentTool
    SubAgentOptions`,
  './store': `
    allMessages childOf createStore initialState reduce restoredState
    BlockView BranchesView CompactionNote MessageView NoteView PruneNote RetryView RevertNote RunState Store StoreOptions
    ToolStatus ToolView TurnView`,
  './mcp': `
    McpError isLoopbackHost isPrivateHost mcpTools
    McpCallOptions McpClientLike McpErrorCode McpProgress McpRequestOptions McpResultSchema McpTool McpToolAnnotations McpToolChange McpToolSet
    McpToolsOptions`,
  './adapters/otel': `
    traceAgent traceLoops
    AgentTrace LoopTracer TraceOptions`,
  './adapters/mcp': `
    connectMcp connectMcpOver
    McpConnectOptions McpConnection McpHttpOptions McpRoute`,
  './ui/native': `
    asEmitted eventDecoder eventEncoder isWithheld
    EventDecoder EventEncoder ShownEvents`,
  './ui/ai-sdk': `
    approvalIdOf historyIndexOf parseApprovalId readChatRequest toUiMessages uiMessageEncoder uiMessageSse uiMessageStreamEnd
    uiMessageStreamHeaders
    ChatRequest CostOf Interjection Read ToolDecision UiChunk UiEncoderOptions UiFilePart UiFinishReason UiMessage UiMessageEncoder
    UiMessageOptions UiMetadata UiPart UiReasoningPart UiTextPart UiToolCall UiToolEnd UiToolOutput UiToolPart UiToolState WaitingForPerson`,
  './ui/ag-ui': `
    agUiEncoder agUiHeaders agUiSse approvalIdOf parseApprovalId readRunInput toAgUiMessages
    AgUiContentEvent AgUiEncoder AgUiEncoderOptions AgUiEvent AgUiInterrupt AgUiMessage AgUiPart AgUiRunEvent AgUiTokenUsage
    AgUiToolCall Read RunInput ToolDecision WaitingForPerson`,
  './client': `
    RemoteError remoteSession
    QueuedReceipt ReconnectOptions RemoteErrorCode RemoteErrorOptions RemoteSession RemoteSessionOptions`,
  './testing': `
    AgentEndpointSuiteOptions AskEndpoint agentEndpointSuite endpointAgent
    faultFetch schemaValidatorSuite sessionStoreSuite streamProviderSuite workspaceSuite
    Expectation FaultFetch FaultScript FixtureAnswer ProviderFixture RecordedCall SchemaValidatorSuiteOptions
    SessionStoreSuiteOptions StreamProviderSuiteOptions TestRunner WorkspaceSuiteOptions`,
  './rust': `
    EventRecorder toLedgerStatus annotatedRequestCodec cacheConfigCodec configSnapshotCodec contentCodec continuationCodec eventFromSpec eventToSpec
    executionLimitsCodec fromSpecJson messageCodec nodeTagCodec protocolCodec provenanceCodec responseFormatCodec
    revertCategoryCodec sessionFromSpec sessionFromSpecJson sessionToSpec sessionToSpecJson streamDeltaCodec toSpecJson
    toolExecutionStrategyCodec toolResultCodec turnTriggerCodec usageCodec
    EventDefaults SpecCodec SpecRequest WireProtocol EventRecorderOptions LedgerStatus`,
  './adapters/node': `
    SandboxUnavailable bashTool connectMcpStdio defaultDenyPatterns deleteSession fileSessionStore listSessionIds loadSession
    loadConfigFile loadSessionsForAgent nodeTools nodeWorkspace ripgrepSearcher saveSession ScriptHookError scriptHooks toNodeHandler
    HookScripts Interpreters ScriptHookErrorCode ScriptHookOptions
    BashLimits BashOptions BashTool Confinement FetchHandler HostPrograms LoadConfigOptions LoadedConfig McpStdioOptions NodeEnv NodeHandler NodeIncoming NodeOutgoing NodeToolsOptions ProtectionOptions RipgrepOptions`,
  './adapters/http': `
    bearer callerToken createAgentApp createModelProxy memoryCounter liveSessionRoutes LiveSession maxAttempts memoryLiveSessions onLoopback problemResponse progressOf runResponse tooManyRuns
    Authorize Caller Identity LiveAgentOptions LiveSessionHost LiveSessions MemoryLiveSessionsOptions RouteOptions RunResponseOptions
    SessionAddress SessionRoutes
    AgentAppOptions Problem ProblemCode
    AllowRule BudgetCounter BudgetRule BudgetWindow CallEnding CallReport Charge KeyPlace ModelCall ModelProxyOptions ProxyBudget
    Upstream UpstreamKey`,
  './adapters/browser': `
    indexedDbSessionStore opfsWorkspace
    IndexedDbSessionOptions IndexedDbSessionStore OpfsWorkspaceOptions`,
  './adapters/cloudflare': `
    ObjectLiveSessionsOptions objectLiveSessions onLoopback
    IndexObject LiveSessionObject SessionObject bearer createWorker durableObjectSessionStore forwardToSession kvSessionStore
    ForwardOptions KvKeyPage KvNamespace KvSessionStoreOptions LiveAgentOptions ObjectNamespace ObjectState ObjectStorage
    ObjectStub SessionAddress SessionBindings SqlCursor SqlValue WorkerOptions`,
  './adapters/ajv': `
    ajvValidator`,
}

const read = (path: string): string => readFileSync(path, 'utf8')

/** Follows a name to the file that declares it. */
function declarationOf(path: string, exported: Export): { path: string; name: string } {
  if (!exported.from) return { path, name: exported.name }
  const { from } = exported
  const next = exportsOf(from.path, read(from.path)).find((each) => each.name === from.name)
  if (!next) throw new Error(`${path} exports ${from.name} from ${from.path}, which has no such export.`)
  return declarationOf(from.path, next)
}

/** The words of the TSDoc comment that stands before the declaration of `name`. */
function documentationOf(code: string, name: string): string[] {
  const declaration = new RegExp(`^(?:export )?(?:abstract |async )?(?:function\\*?|const|let|class|interface|type) ${name}\\b`, 'm').exec(
    code,
  )
  // What the linter is told stands between the two.
  const before = code
    .slice(0, declaration?.index ?? 0)
    .replace(/\n\/\/ biome-ignore .*\n$/, '')
    .trimEnd()
  if (!before.endsWith('*/')) return []
  const comment = before.slice(before.lastIndexOf('/**'))
  return comment.match(/[A-Za-z`]{2,}/g) ?? []
}

describe.each(publicEntries())('$subpath', ({ subpath, source }) => {
  const exported = exportsOf(source, read(source))
  const names = (which: Export[]): string[] => which.map((each) => each.name).toSorted()

  it('exports what it promises, no more and no less', () => {
    expect(names(exported)).toEqual((expected[subpath] ?? '').split(/\s+/).filter(Boolean).toSorted())
  })

  it('has at run time what its source says', async () => {
    const module: object = await import(`../${source}`)
    expect(Object.keys(module).toSorted()).toEqual(names(exported.filter((each) => !each.isType)))
  })

  it('documents every name', () => {
    const silent = exported.filter((each) => {
      const declared = declarationOf(source, each)
      return documentationOf(read(declared.path), declared.name).length < 4
    })
    expect(silent.map((each) => each.name)).toEqual([])
  })
})

it('a name without a comment is found', () => {
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'a').length).toBeGreaterThan(4)
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'b')).toEqual([])
})
