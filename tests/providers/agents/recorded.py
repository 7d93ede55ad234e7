"""What agents said once, cut down to what matters."""

import json
from typing import Any


def _events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.strip().splitlines()]


CODEX_TOOL = _events(r"""
{"type":"thread.started","thread_id":"01a1fc2b-a915-7d62-a67b-369e1508d5ea"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `fake-model` not found."}}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"**Thinking** about it"}}
{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo hello-from-tool'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo hello-from-tool'","aggregated_output":"hello-from-tool\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"file_change","changes":[{"path":"/scratch/new.txt","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"item_4","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":"x"},"result":{"content":[{"type":"text","text":"found"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"item_5","type":"agent_message","text":"final answer from fake"}}
{"type":"turn.completed","usage":{"input_tokens":202,"cached_input_tokens":14,"cache_write_input_tokens":0,"output_tokens":26,"reasoning_output_tokens":6}}
""")  # noqa: E501

CODEX_REFUSED = _events(r"""
{"type":"thread.started","thread_id":"01a1fc2b-aa7a-7672-8223-b6b544182713"}
{"type":"turn.started"}
{"type":"error","message":"unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:8902/v1/responses"}
{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:8902/v1/responses"}}
""")

CLAUDE_TOOL = _events(r"""
{"type":"system","subtype":"init","cwd":"/scratch","session_id":"6f93","tools":["Task","Bash"],"model":"claude-opus-4-8[1m]","permissionMode":"default"}
{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":561,"error_status":529,"error":"overloaded"}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"echo hello-from-tool","description":"say hello"}}],"usage":{"input_tokens":101,"output_tokens":1}}}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"hello-from-tool","is_error":false}]}}
{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_2","name":"Read","input":{"file_path":"/nowhere"}}]}}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":[{"type":"text","text":"no such"},{"type":"text","text":"file"}],"is_error":true}]}}
{"type":"assistant","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"final answer from fake"}]}}
{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":2,"result":"final answer from fake","stop_reason":"end_turn","total_cost_usd":0.001667,"usage":{"input_tokens":202,"cache_creation_input_tokens":5,"cache_read_input_tokens":14,"output_tokens":26}}
""")  # noqa: E501

CLAUDE_REFUSED = _events(r"""
{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"Failed to authenticate. API Error: 401 bad key"}]},"error":"authentication_failed"}
{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"num_turns":1,"result":"Failed to authenticate. API Error: 401 bad key","total_cost_usd":0,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}
""")  # noqa: E501
