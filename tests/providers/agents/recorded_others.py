"""What Copilot, Gemini CLI, OpenCode and Pi said once, cut down to what matters."""

from recorded import events

COPILOT_TOOL = events(r"""
{"type":"session.skills_loaded","data":{"skills":[]},"ephemeral":true,"id":"b3f0","parentId":"384f"}
{"type":"user.message","data":{"content":"Say hello\n","turnId":"0"},"id":"9923"}
{"type":"model.call_failure","data":{"model":"gpt-5","statusCode":500,"errorMessage":"{\"message\":\"boom\"}"},"ephemeral":true,"id":"85d7"}
{"type":"assistant.message","data":{"messageId":"3603","content":"I will call a tool.","toolRequests":[{"toolCallId":"call_2","name":"bash"}],"turnId":"0","reasoningText":"Thinking about it"},"id":"7c11"}
{"type":"assistant.reasoning","data":{"reasoningId":"ebfb","content":"Thinking about it"},"ephemeral":true,"id":"590c"}
{"type":"tool.execution_start","data":{"toolCallId":"call_2","toolName":"bash","arguments":{"command":"echo oops; exit 3"}},"id":"7663"}
{"type":"tool.shell_output","data":{"toolCallId":"call_2","stream":"stdout","text":"oops\n"},"ephemeral":true,"id":"9fd6"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_2","shellExecution":{"exitCode":3},"success":true,"result":{"content":"oops\n<shellId: 0 completed with exit code 3>"}},"id":"dc60"}
{"type":"tool.execution_start","data":{"toolCallId":"call_3","toolName":"create","arguments":{"path":"/scratch/new.txt"}},"id":"ef7c"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_3","fileEdits":[{"path":"/scratch/new.txt","kind":"create"}],"success":true,"result":{"content":"Created file"}},"id":"1119"}
{"type":"tool.execution_start","data":{"toolCallId":"call_4","toolName":"view","arguments":{"path":"/etc/hostname"}},"id":"ef7d"}
{"type":"tool.execution_complete","data":{"toolCallId":"call_4","success":false,"error":{"message":"Permission denied","code":"denied"}},"id":"1120"}
{"type":"assistant.message","data":{"messageId":"5a1d","content":"I am a helper.","toolRequests":[]},"agentId":"sub-1","id":"75b5"}
{"type":"assistant.message","data":{"messageId":"48ac","content":"final answer from fake","toolRequests":[],"turnId":"1"},"id":"75b6"}
{"type":"assistant.turn_end","data":{"turnId":"1"},"id":"06fa"}
{"type":"result","sessionId":"df63","exitCode":0,"usage":{"premiumRequests":0,"totalApiDurationMs":39}}
""")  # noqa: E501

COPILOT_REFUSED = events(r"""
{"type":"model.call_failure","data":{"model":"gpt-5","statusCode":401,"errorMessage":"{\"message\":\"bad key\",\"code\":401}"},"ephemeral":true,"id":"77a8"}
{"type":"session.warning","data":{"warningType":"x","message":"be warned"},"id":"77a9"}
{"type":"session.error","data":{"errorType":"authentication","message":"Authentication failed with provider at http://127.0.0.1:8977/v1 (HTTP 401).","statusCode":401},"id":"51cf"}
{"type":"result","sessionId":"b511","exitCode":1,"usage":{"premiumRequests":0}}
""")  # noqa: E501

GEMINI_TOOL = events(r"""
{"type":"init","session_id":"7c65","model":"gemini-2.5-flash"}
{"type":"message","role":"user","content":"Say hello\n"}
{"type":"message","role":"assistant","content":"I will ","delta":true}
{"type":"message","role":"assistant","content":"call a tool.","delta":true}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"run_0","parameters":{"command":"echo hello-from-tool"}}
{"type":"tool_result","tool_id":"run_0","status":"success","output":"hello-from-tool"}
{"type":"tool_use","tool_name":"read_file","tool_id":"read_0","parameters":{"path":"/etc/hostname"}}
{"type":"tool_result","tool_id":"read_0","status":"error","error":{"type":"invalid_tool_params","message":"Path not in workspace"}}
{"type":"error","severity":"warning","message":"A hook objects"}
{"type":"message","role":"assistant","content":"final answer ","delta":true}
{"type":"message","role":"assistant","content":"from fake","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":234,"input_tokens":202,"output_tokens":26,"cached":14,"input":188,"duration_ms":472,"tool_calls":2}}
""")  # noqa: E501

GEMINI_REFUSED = events(r"""
{"type":"init","session_id":"cf51","model":"gemini-2.5-flash"}
{"type":"message","role":"user","content":"Say hello\n"}
{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"message\":\"bad key\",\"code\":401,\"status\":\"UNAUTHENTICATED\"}}]"},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0}}
""")  # noqa: E501

OPENCODE_TOOL = events(r"""
{"type":"step_start","sessionID":"ses_1","part":{"id":"prt_1","type":"step-start"}}
{"type":"reasoning","sessionID":"ses_1","part":{"id":"prt_2","type":"reasoning","text":"Thinking about it"}}
{"type":"text","sessionID":"ses_1","part":{"id":"prt_3","type":"text","text":"I will call a tool."}}
{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"bash","callID":"call_2","state":{"status":"completed","input":{"command":"echo oops; exit 3"},"output":"oops\n","metadata":{"exit":3},"time":{"start":1795281720550,"end":1795281722861}}}}
{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"write","callID":"call_3","state":{"status":"completed","input":{"filePath":"/scratch/new.txt"},"output":"Wrote file successfully.","metadata":{"filepath":"/scratch/new.txt","exists":false},"time":{"start":1795282486465,"end":1795282486642}}}}
{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"read","callID":"call_4","state":{"status":"error","input":{"filePath":"/nowhere"},"error":"File not found","time":{"start":1795282369525,"end":1795282369556}}}}
{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","type":"step-finish","tokens":{"total":114,"input":94,"output":10,"reasoning":3,"cache":{"write":0,"read":7}},"cost":0.00012}}
{"type":"step_start","sessionID":"ses_1","part":{"id":"prt_9","type":"step-start"}}
{"type":"text","sessionID":"ses_1","part":{"id":"prt_10","type":"text","text":"final answer from fake"}}
{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","type":"step-finish","tokens":{"total":114,"input":94,"output":10,"reasoning":3,"cache":{"write":0,"read":7}},"cost":0.00012}}
""")  # noqa: E501

OPENCODE_REFUSED = events(r"""
{"type":"error","sessionID":"ses_2","error":{"name":"APIError","data":{"message":"bad key","statusCode":401,"isRetryable":false,"responseBody":"{}"}}}
""")  # noqa: E501

PI_TOOL = events(r"""
{"type":"session","version":3,"id":"01a1","cwd":"/scratch"}
{"type":"agent_start"}
{"type":"turn_start"}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"Say hello"}]}}
{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"stopReason":"error","errorMessage":"500 boom"}}
{"type":"agent_end","messages":[]}
{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"500 boom"}
{"type":"agent_start"}
{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"I will"},"message":{"role":"assistant","content":[{"type":"text","text":"I will"}]}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Thinking about it"},{"type":"text","text":"I will call a tool."},{"type":"toolCall","id":"call_2","name":"bash"}],"usage":{"input":94,"output":13,"cacheRead":7,"cacheWrite":0,"totalTokens":114,"cost":{"total":0}},"stopReason":"toolUse"}}
{"type":"tool_execution_start","toolCallId":"call_2","toolName":"bash","args":{"command":"echo oops; exit 3"}}
{"type":"tool_execution_update","toolCallId":"call_2","toolName":"bash","partialResult":{"content":[]}}
{"type":"tool_execution_end","toolCallId":"call_2","toolName":"bash","result":{"content":[{"type":"text","text":"oops\n\n\nCommand exited with code 3"}]},"isError":true}
{"type":"message_end","message":{"role":"toolResult","toolCallId":"call_2","content":[{"type":"text","text":"oops"}],"isError":true}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"final answer from fake"}],"usage":{"input":94,"output":13,"cacheRead":7,"cacheWrite":0,"totalTokens":114,"cost":{"total":0.0002}},"stopReason":"stop"}}
{"type":"agent_end","messages":[]}
""")  # noqa: E501

PI_REFUSED = events(r"""
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"stopReason":"error","errorMessage":"401 bad key"}}
{"type":"agent_end","messages":[]}
""")  # noqa: E501
