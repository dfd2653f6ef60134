"""Keys and tokens that are known by their shape: what their providers put before them, or into them.

Each begins where no letter or digit stands before it. Every one has 15 characters or more that keys are made of, and one of
:data:`HINTS`.
"""

from __future__ import annotations

import re

_SHAPES = r"""
    sk- (?= [A-Za-z_-]{0,100} [0-9]) [A-Za-z0-9_-]{16,}    # OpenAI, Anthropic and many that follow them
  | A(?:KIA|SIA|BIA|CCA) [0-9A-Z]{16} \b                   # AWS access key id, temporary, bearer, of a context
  | ABSK [A-Za-z0-9+/]{60,} ={0,2} | bedrock-api-key- [A-Za-z0-9+/=_-]{20,}
  | gh[pousr]_ [A-Za-z0-9]{20,} | github_pat_ [A-Za-z0-9_]{20,}
  | gl(?:pat|ptt|rt|dt|cbt|ft|soat|oas|agent|imt|ffct)- [A-Za-z0-9_-]{16,}
  | xox[abcdeoprs]- [A-Za-z0-9-]{10,} | xoxe\.xox[bp]- [A-Za-z0-9-]{10,} | xapp- [A-Za-z0-9-]{10,}
  | hooks\.slack\.com/(?:services|workflows|triggers)/ [A-Za-z0-9/]{20,}
  | discord(?:app)?\.com/api/webhooks/ [0-9]{10,}/ [A-Za-z0-9_-]{20,}
  | AIza [0-9A-Za-z_-]{35} | AQ\. [A-Za-z0-9_-]{40,} | ya29\. [0-9A-Za-z_-]{20,} | GOCSPX- [A-Za-z0-9_-]{20,}
  | 1// [A-Za-z0-9_-]{35,}                                 # Google, refresh token
  | [A-Za-z0-9_~.]{3} [0-9]Q~ [A-Za-z0-9_~.-]{31,34}       # Microsoft Entra, client secret
  | [A-Za-z0-9]{52} JQQJ9 [A-Za-z0-9]{20,30}               # Azure OpenAI and other services of Azure
  | [A-Za-z0-9+/]{33,76} (?: \+(?:ASt|ABa|ASb|AEh|ARm|AMC|AIoT) | ACDb | AzFu | AzSe | ACR ) [A-Za-z0-9+/]{5,9} ={0,2}
  | [A-Za-z0-9]{76} AZDO [A-Za-z0-9]{4} \b
  | hf_ [A-Za-z0-9]{20,} \b
  | [sre]k_ (?:org_)? (?:live|test)_ [A-Za-z0-9]{16,} | whsec_ [A-Za-z0-9+/=]{20,}    # Stripe
  | SG\. [A-Za-z0-9_-]{16,} \. [A-Za-z0-9_-]{16,}          # SendGrid
  | key- [0-9a-f]{32} \b | [0-9a-f]{32} -us [0-9]{1,2} \b  # Mailgun, Mailchimp
  | npm_ [A-Za-z0-9]{30,} | pypi- [A-Za-z0-9_-]{32,}
  | gsk_ [A-Za-z0-9]{20,} | xai- [A-Za-z0-9]{20,} | r8_ [A-Za-z0-9]{20,} | pplx- [A-Za-z0-9]{20,} | nvapi- [A-Za-z0-9_-]{20,}
  | sk_ [a-f0-9]{48} \b | csk- [a-z0-9]{40,} | pcsk_ [A-Za-z0-9_]{30,} | tvly- [A-Za-z0-9_-]{20,} | jina_ [A-Za-z0-9_-]{30,}
  | lsv2_(?:pt|sk)_ [A-Za-z0-9_]{30,} | fc- [a-f0-9]{32} \b | fw_ [A-Za-z0-9]{22,} \b | e2b_ [a-f0-9]{40} \b
  | do[opr]_v1_ [a-f0-9]{32,} | shp(?:at|ca|pa|ss)_ [A-Fa-f0-9]{32} | dapi [a-f0-9]{32} (?:-[0-9])?
  | hv[sb]\. [A-Za-z0-9_-]{20,} | dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{35,}
  | lin_api_ [A-Za-z0-9]{20,} | ntn_ [A-Za-z0-9]{20,} | figd_ [A-Za-z0-9_-]{20,} | PMAK- [A-Za-z0-9-]{30,}
  | sntry[su]_ [A-Za-z0-9+/=_]{20,} | gl(?:sa|c)_ [A-Za-z0-9+/=_]{30,} | NR(?:AK|JS|II)- [A-Za-z0-9]{20,}
  | tskey- [a-z]{3,10} - [A-Za-z0-9-]{15,} | sb[ps]_ [A-Za-z0-9_]{36,} | nfp_ [A-Za-z0-9]{30,}
  | AT(?:ATT3x|CTT3x|BB) [A-Za-z0-9_=-]{20,}               # Atlassian
  | pscale_(?:tkn|pw|oauth)_ [A-Za-z0-9_.-]{30,} | sq0(?:atp|csp)- [A-Za-z0-9_-]{20,}
  | AGE-SECRET-KEY-1 [A-Z0-9]{40,} | vercel_blob_rw_ [A-Za-z0-9_]{20,} | EAA [A-Za-z0-9]{80,}
  | [0-9]{8,10}:AA [A-Za-z0-9_-]{33}                       # Telegram
  | ey[JA] [A-Za-z0-9_-]{8,} \. ey[JA] [A-Za-z0-9_-]{8,} (?: \. [A-Za-z0-9_-]* )?          # JWT
  | eyJ [A-Za-z0-9_-]{16,} \. [A-Za-z0-9_-]* (?: \. [A-Za-z0-9_-]{8,} ){3}                 # the same, encrypted
"""
SHAPES = re.compile(rf"(?<![A-Za-z0-9]) (?: {_SHAPES} )", re.VERBOSE)

HINTS = (
    "sk-", "AKIA", "ASIA", "ABIA", "ACCA", "ABSK", "bedrock-api-key-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "glptt-", "glrt-", "gldt-", "glcbt-", "glft-", "glsoat-", "gloas-", "glagent-", "glimt-", "glffct-", "xox",
    "xapp-", "hooks.slack", "/api/webhooks/", "AIza", "AQ.", "ya29.", "GOCSPX-", "1//", "Q~", "JQQJ9", "+ASt", "+ABa",
    "+ASb", "+AEh", "+ARm", "+AMC", "+AIoT", "ACDb", "AzFu", "AzSe", "ACR", "AZDO", "hf_", "_live_", "_test_", "whsec_",
    "SG.", "key-", "-us", "npm_", "pypi-", "gsk_", "xai-", "r8_", "pplx-", "nvapi-", "sk_", "tvly-", "jina_", "lsv2_", "fc-",
    "fw_", "e2b_", "_v1_", "shp", "dapi", "hvs.", "hvb.", "dp.", "lin_api_", "ntn_", "figd_", "PMAK-", "sntry", "glsa_",
    "glc_", "NRAK-", "NRJS-", "NRII-", "tskey-", "sbp_", "sbs_", "nfp_", "ATATT3x", "ATCTT3x", "ATBB", "pscale_", "sq0",
    "AGE-SECRET-KEY-1", "vercel_blob_rw_", "EAA", ":AA", "eyJ", "eyA",
)  # fmt: skip
"""One of them stands in every key: looked for first, which takes a fraction of the time."""
